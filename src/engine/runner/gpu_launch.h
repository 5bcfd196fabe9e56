// One launch of one kernel on a GPU, and what its end means. Shared by the plain run and the timer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/emulator/emulator.h"
#include "engine/runner/gpu_context.h"
#include "engine/runner/sequence.h"

namespace assay::runner {

// Queues it; answers the driver's result. `parameters` is the whole parameter block; `traits` go to
// the driver as they are.
[[nodiscard]] int queue_launch(const GpuContext& context, cuda::Handle function,
                               const emulator::Launch& launch, std::vector<std::byte> parameters,
                               std::span<const LaunchTrait> traits = {});

// A cluster of so many blocks is not accepted by every device, and by none unasked.
[[nodiscard]] bool is_large_cluster(std::int64_t x, std::int64_t y, std::int64_t z);
// Lets a kernel have the clusters that its own __cluster_dims__ ask for; the driver's result.
[[nodiscard]] int allow_own_clusters(const cuda::Driver& driver, cuda::Handle function);

// A driver's result, with its words, as the end of a kernel's run: its own faults are told apart by
// name. Throws cuda::DriverError for results that no kernel can bring about.
[[nodiscard]] emulator::Outcome outcome_of(int result, const std::string& text);
[[nodiscard]] emulator::Outcome outcome_of(const GpuContext& context, int result);

// Of what failed in a process in which a kernel has run: what that did to the context, and to code
// of ours in it, comes out in whatever is asked of the driver next. Throws it again if no kernel
// can bring it about.
[[nodiscard]] emulator::Outcome left_by_kernel(const cuda::DriverError& error);

// The parameter block for tensors that begin at `arena`: the block as for an arena at address 0,
// with the arena's address added where pointers stand.
[[nodiscard]] std::vector<std::byte> placed(const std::vector<std::byte>& parameters,
                                            const std::vector<std::size_t>& pointer_offsets,
                                            cuda::Address arena);

}  // namespace assay::runner
