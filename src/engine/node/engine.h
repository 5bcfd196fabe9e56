// The engine as its callers see it: a thing that runs one job and tells every stage. Tests have a
// fake of it; the product has EngineProcess, which speaks frames with `assay engine`.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/job/record.h"
#include "engine/job/verdict.h"

namespace assay::node {

// What a stage produced that is too large or too raw for the report: PTX, a log, samples.
struct Artifact {
  std::string name{};  // the last part of its URI: "ptx", "log"
  std::string media_type{};
  std::string bytes{};
};

struct StageEvent {
  job::StageRecord record{};
  std::vector<Artifact> artifacts{};
  bool is_last = false;  // no step follows: without artifacts it can be kept with the conclusion
};

struct Conclusion {
  job::Verdict verdict = job::Verdict::engine_fault;
  // Merged into the report: summary, validation, timing, evidence, reproduce …
  nlohmann::json body = nlohmann::json::object();
  // The engine (not the job) ended: what it had done stays, the job is `interrupted`.
  bool interrupted = false;
};

struct Order {
  std::string job_id{};
  std::string kind{};
  nlohmann::json request = nlohmann::json::object();
  std::string client{};  // whose job it is: what one client's jobs leave warm serves no other's
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Runs the job to its end on the calling thread; any number of threads may call at once.
  // `on_stage` is called on this thread, in order, and the engine does not begin the next stage
  // before it returns: return once the stage is recorded. An exception from it cancels the job.
  // `stop` cancels the job.
  virtual Conclusion run(const Order& order, const std::function<void(const StageEvent&)>& on_stage,
                         const std::stop_token& stop) = 0;

  // Devices, isolation seen in force, toolkit, queue: `check_capabilities`' material. Starts the
  // engine if it is not running; blocks until it has tested its own isolation.
  virtual nlohmann::json capabilities() = 0;
};

}  // namespace assay::node
