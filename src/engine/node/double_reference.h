// A `cuda` reference as the same computation in double, in a process of its own: what its errors
// and the kernel's are measured against (judge/precision.h). Its source is rewritten
// (source/in_double.h) and it is given the same inputs, widened; what cannot be rewritten soundly
// is `unsupported` before anything runs.
//
// Owned by the job's thread.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/node/compilation.h"
#include "engine/node/kernel_session.h"
#include "engine/node/referee_session.h"

namespace assay::node {

class DoubleReference {
 public:
  // `most_shared_bytes`: a block may have of the device's shared memory.
  DoubleReference(const KernelSource& reference, const contract::Contract& judged,
                  std::uint64_t most_shared_bytes);

  // Rewrites and compiles. Nothing: there is a program.
  [[nodiscard]] std::optional<Ended> compile(const Compiler& compiler, CompileGoal goal,
                                             const std::stop_token& stop);
  // What was compiled; REQUIRES compile().
  [[nodiscard]] const std::string& source() const { return source_.source; }

  // `display_name`: of the reference itself, as its runner told it: a scalar is rounded to the type
  // that the reference takes it in. `most_bytes`: an arena may have.
  [[nodiscard]] std::optional<Ended> load(std::unique_ptr<KernelSession> session,
                                          const std::string& display_name,
                                          std::uint64_t most_bytes);

  // One run on what the referee filled last, which then expects what it gave.
  [[nodiscard]] std::optional<Ended> run(RefereeSession& referee,
                                         std::chrono::nanoseconds& execution_left);

  // Ends its process, if one was begun, as RunnerProcess::end() does.
  [[nodiscard]] bool end() { return !session_ || session_->end(); }
  // The process, if one was begun.
  [[nodiscard]] std::unique_ptr<RunnerProcess> release();

 private:
  const KernelSource reference_;
  const contract::Contract judged_;
  const std::uint64_t most_shared_bytes_;
  KernelSource source_{};
  Program program_{};
  std::vector<TensorPlace> places_{};
  std::uint64_t arena_bytes_ = 0;
  std::unique_ptr<KernelSession> session_{};
};

}  // namespace assay::node
