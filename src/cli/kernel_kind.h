// The job kind "kernel" as the engine runs it: which interpreter and which device an order goes to,
// and which kind of job it is there.
#pragma once

#include <stop_token>

#include "engine/node/devices.h"
#include "engine/node/kernel_job.h"
#include "engine/node/node.h"
#include "engine/node/pythons.h"

namespace assay::cli {

// What it takes to judge one; all of it outlives the job.
struct KernelBench {
  const node::Runners& runners;
  const node::Devices& devices;
  node::Pythons& pythons;
  const node::Compiler& compiler;
  nlohmann::json isolation;  // as the report tells it
};

[[nodiscard]] node::Conclusion judge_kernel(const KernelBench& bench, const node::Order& order,
                                            node::Reporter& reporter, const std::stop_token& stop);

}  // namespace assay::cli
