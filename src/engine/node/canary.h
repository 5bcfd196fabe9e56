// A kernel of ours with a known answer, in a fresh process: what proves that a device works when
// something else has made it doubtful. The driver assembles it, so that no compiler is needed.
//
// Any thread; blocks for half a second, at most some.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "engine/node/runner_process.h"

namespace assay::node {

// `process` plays `role`, gpu_kernel or kernel, was asked nothing yet, and is used up after this.
// "" if every element is right, or if a context was made and the driver can assemble nothing; else
// what happened.
[[nodiscard]] std::string run_canary(std::unique_ptr<RunnerProcess> process, RunnerRole role,
                                     const std::stop_token& stop);

}  // namespace assay::node
