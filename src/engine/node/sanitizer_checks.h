// `checks` by compute-sanitizer, on the GPU itself: one process per tool launches the kernel once,
// or all that was lifted out of a Python source, between walls of its own
// (runner/sanitizer_role.cc), over inputs of one trial. What it sees it sees of machine code, of
// kernels too that the emulator cannot execute; it knows lines, blocks and threads. Beside it the
// emulator looks at a kernel, which knows more of each mistake and of more mistakes.
//
// Used by the job's thread while it holds the device.
#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>

#include "engine/node/gpus.h"
#include "engine/node/kernel_session.h"
#include "engine/node/kernel_task.h"
#include "engine/node/lifted_sequence.h"
#include "engine/node/referee_session.h"
#include "engine/node/runners.h"

namespace assay::node {

// What the process is shown (runner/sanitized_launch.h); or why it is shown nothing.
struct SanitizedWork {
  nlohmann::json order = nlohmann::json::object();
  std::string programs{};
  std::string obstacle{};
};

// `never_ended`: the kernel, in its time: looked at it would take all of it again.
[[nodiscard]] SanitizedWork sanitized_kernel(const KernelTask& task, const Program& program,
                                             const KernelSession& kernel, bool never_ended);
// `places`: of the tensors in the memory of a run; `host`: where the arena has them that the
// process is given.
[[nodiscard]] SanitizedWork sanitized_sequence(const LiftedSequence& sequence,
                                               const contract::Contract& contract,
                                               const std::vector<TensorPlace>& places,
                                               const std::vector<TensorPlace>& host);

struct SanitizerRun {
  const Runners& runners;
  const Gpu& gpu;
  const std::vector<std::string>& checks;
  const SanitizedWork& work;
  std::variant<LentArena, Ended> arena;  // inputs, in host memory
  const char* otherwise = "";            // what looks where no tool of it can
  const std::stop_token& stop;
};

// {tools: [{tool, check, ran, ms, findings or reason}], findings}, of the checks that it has a tool
// for; or {reason} if it is not to be used. Always an answer.
[[nodiscard]] nlohmann::json run_sanitizer(const SanitizerRun& run);

// Puts what it found among the emulator's `checks`: the same of the same line is one finding, told
// as `also_by`.
void add_sanitized(nlohmann::json& checks, nlohmann::json sanitized);

}  // namespace assay::node
