// What the engine lends to a job of plans, generators, commits and scenarios: steps, a judge of
// kernels, facts about the machine. Built by the engine's main; borrowed; any thread.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "engine/node/engine.h"
#include "engine/node/reporter.h"
#include "plans/step_runner.h"

namespace assay::plans {

struct Workshop {
  // May block until the machine's confinement has been tested.
  std::function<const StepRunner&()> steps{};
  // Judges an order of kind "kernel" here, with its stages under "stages" of the conclusion's body.
  std::function<node::Conclusion(const nlohmann::json& request, const std::stop_token& stop)>
      kernels{};
  // What `assay capabilities` says of the machine. May block.
  std::function<nlohmann::json()> capabilities{};
};

// Whose word decides where user code runs: "auto" confines what works in folders of ours, "host"
// nothing.
enum class IsolationWish { automatic, host };
[[nodiscard]] inline IsolationWish isolation_wish(const nlohmann::json& request) {
  return request.value("isolation", "auto") == "host" ? IsolationWish::host
                                                      : IsolationWish::automatic;
}

// Where an artifact of a job can be read.
[[nodiscard]] inline std::string artifact_uri(const std::string& job_id, const std::string& name) {
  return "assay://jobs/" + job_id + "/" + name;
}

// A stage of a job, told with the time since the last one.
class Stages {
 public:
  explicit Stages(node::Reporter& reporter)
      : reporter_(reporter), begun_(std::chrono::steady_clock::now()) {}

  void tell(const std::string& name, job::StageStatus status, nlohmann::json body,
            std::vector<node::Artifact> artifacts = {}) {
    const auto now = std::chrono::steady_clock::now();
    const double elapsed_ms = std::chrono::duration<double, std::milli>(now - begun_).count();
    begun_ = now;
    reporter_.stage({.record = {.name = name,
                                .status = status,
                                .elapsed_ms = elapsed_ms,
                                .body = std::move(body)},
                     .artifacts = std::move(artifacts)});
  }

 private:
  node::Reporter& reporter_;
  std::chrono::steady_clock::time_point begun_;
};

}  // namespace assay::plans
