// `checks` by compute-sanitizer, on the GPU itself: one process per tool launches the kernel once,
// between walls of its own (runner/sanitizer_role.cc), over inputs of the first trial. What it sees
// it sees of machine code, of kernels too that the emulator cannot execute; it knows lines, blocks
// and threads. Beside it the emulator looks, which knows more of each mistake and of more mistakes.
//
// Used by the job's thread while it holds the device.
#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>

#include "engine/node/gpus.h"
#include "engine/node/kernel_session.h"
#include "engine/node/kernel_task.h"
#include "engine/node/referee_session.h"
#include "engine/node/runners.h"

namespace assay::node {

struct SanitizerRun {
  const Runners& runners;
  const Gpu& gpu;
  const KernelTask& task;
  const Program& program;
  RefereeSession& referee;      // on the host
  const KernelSession& kernel;  // bound to that referee's arena
  bool never_ended = false;     // the kernel, in its time: looked at it would take all of it again
  const std::stop_token& stop;
};

// {tools: [{tool, check, ran, ms, findings or reason}], findings}, of the checks that it has a tool
// for; or {reason} if it is not to be used. Always an answer.
[[nodiscard]] nlohmann::json run_sanitizer(const SanitizerRun& run);

// Puts what it found among the emulator's `checks`: the same of the same line is one finding, told
// as `also_by`.
void add_sanitized(nlohmann::json& checks, nlohmann::json sanitized);

}  // namespace assay::node
