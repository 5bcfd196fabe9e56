// What a launch takes of each multiprocessor, by what the assembler says of its kernel: registers,
// spills, shared memory, and how many warps fit at once. Known before anything runs.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/node/compilation.h"
#include "engine/node/device_metrics.h"
#include "engine/node/gpus.h"

namespace assay::node {

// `entry`: the kernel's symbol in the program.
[[nodiscard]] LaunchFacts launch_facts(const KernelSource& source, const Program& program,
                                       const std::string& entry, const Gpu& gpu);

// What fits on the device at once, of facts that say registers, block and shared memory.
void add_limits(LaunchFacts& facts, const Gpu& gpu);

// {registers, stack_bytes, spill_store_bytes, spill_load_bytes, static_shared_bytes,
// dynamic_shared_bytes, occupancy: {percent, warps_per_multiprocessor,
// max_warps_per_multiprocessor, limited_by, waves}}; null where no assembler has told of it.
[[nodiscard]] nlohmann::json tell_launch(const KernelSource& source, const Program& program,
                                         const std::string& entry, const Gpu& gpu);

}  // namespace assay::node
