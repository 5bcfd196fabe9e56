// What a GPU does not tell of a kernel, the emulator does: the same program in a runner of its own,
// with inputs of the same contract, for `checks` on a job that runs on a GPU.
//
// Owned by the job's thread; its two processes end with it.
#pragma once

#include "engine/node/kernel_session.h"
#include "engine/node/kernel_task.h"
#include "engine/node/runners.h"

namespace assay::node {

class EmulatedTwin {
 public:
  // Starts both processes.
  EmulatedTwin(const Runners& runners, const KernelTask& task, const std::stop_token& stop);

  // Anything said here is why nothing can be looked at.
  [[nodiscard]] std::optional<Ended> load(const KernelTask& task, const Program& program);

  [[nodiscard]] RefereeSession& referee() { return referee_; }
  [[nodiscard]] KernelSession& kernel() { return kernel_; }

 private:
  RefereeSession referee_;
  KernelSession kernel_;
};

}  // namespace assay::node
