// Runs steps: one process tree each, killed whole at the deadline, on cancellation, when the step
// floods, when it ends and when the engine dies. The tree is held by the same keeper that holds the
// kernels' runners, so a daemon that left its process group is found too.
//
// Immutable after construction; any thread may call run(), which blocks it.
#pragma once

#include <filesystem>
#include <stop_token>

#include "engine/confinement/confinement.h"
#include "plans/step.h"

namespace assay::plans {

class StepRunner {
 public:
  // `runner`: assay-runner. `layers`: what a confined step is given; level L0 if confinement cannot
  // be had, and then `missing` says why.
  StepRunner(std::filesystem::path runner, confinement::Layers layers, std::string missing = {});

  // Never throws for what a step does; std::system_error if the machine has no descriptor left.
  [[nodiscard]] StepEnd run(const Step& step, const std::stop_token& stop) const;

  [[nodiscard]] bool can_confine() const { return missing_.empty(); }
  // Why not; empty if it can.
  [[nodiscard]] const std::string& missing() const { return missing_; }
  // "L2", or "host": what a report says of a step.
  [[nodiscard]] std::string level_of(const Enclosure& enclosure) const;

 private:
  std::filesystem::path runner_;
  confinement::Layers layers_;
  std::string missing_;
};

}  // namespace assay::plans
