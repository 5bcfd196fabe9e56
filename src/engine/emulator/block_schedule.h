// The blocks of one launch on host threads: each thread runs blocks one after the other, and sets
// one that takes long aside while others begin, since blocks of a device run side by side and may
// wait for one another. As many have begun at most as a device would have at once, or fewer where
// memory ends.
//
// Borrows the launch's state, which lives until all threads have ended; called by the thread that
// launches.
#pragma once

#include <string>

#include "engine/emulator/launch_state.h"

namespace assay::emulator {

// Runs all blocks of the grid, or until the launch has ended otherwise. `wanted`: threads, 0 for as
// many as there are cores.
void run_threads(LaunchState& launch, Dim3 grid, unsigned wanted);

// Why the blocks of a cooperative launch cannot all run at once; empty: they can, or it is none.
[[nodiscard]] std::string refuse_cooperative(const LaunchState& state);

}  // namespace assay::emulator
