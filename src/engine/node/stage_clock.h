// Times one stage of a job and tells it: exactly once, with whatever is known, also when the stage
// fails.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "engine/node/ended.h"
#include "engine/node/reporter.h"

namespace assay::node {

class StageClock {
 public:
  // Blocks until the stages told before are recorded. Throws JobStopped.
  StageClock(Reporter& reporter, const char* name) : reporter_(reporter), name_(name) {
    reporter_.settle();
    start_ = std::chrono::steady_clock::now();
  }

  nlohmann::json body = nlohmann::json::object();
  std::vector<Artifact> artifacts{};
  bool is_last = false;  // no step follows

  // Returns what was handed in, so that a stage can end with `return clock.tell(ended)`.
  std::optional<Ended> tell(std::optional<Ended> ended);

 private:
  Reporter& reporter_;
  const char* name_;
  std::chrono::steady_clock::time_point start_{};
};

}  // namespace assay::node
