// A step whose processes stay when its command has ended, until this object goes: the monitor of a
// container that was started in the background. A step's tree ends with the step otherwise, and
// where the container engine has no daemon, the container is in that tree.
//
// Owned by one thread; a thread of its own watches the tree.
#pragma once

#include <atomic>
#include <thread>

#include "plans/step_runner.h"

namespace assay::plans {

class HeldStep {
 public:
  // `marker`: a path of nothing yet, in a folder of the job's.
  HeldStep(const StepRunner& runner, const Step& step, std::filesystem::path marker);
  // Kills what is left of the tree.
  ~HeldStep();
  HeldStep(const HeldStep&) = delete;
  HeldStep& operator=(const HeldStep&) = delete;

  // Blocks until the command has succeeded, or ended otherwise: how, as a step would tell.
  [[nodiscard]] StepEnd wait_for_command(const std::stop_token& stop);

 private:
  [[nodiscard]] StepEnd give_up(StepEnd::Why why);

  const std::filesystem::path marker_;
  const std::chrono::milliseconds timeout_;
  const std::chrono::steady_clock::time_point begun_;
  std::atomic<bool> ended_ = false;  // then end_ is the watching thread's no more
  StepEnd end_{};
  std::jthread watching_;
};

}  // namespace assay::plans
