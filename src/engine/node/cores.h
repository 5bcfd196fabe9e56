// How this machine's cores are shared: emulated kernels take as many threads as they may, and a
// measurement on a GPU must not wait for a core of its process. Pure; any thread.
#pragma once

#include <cstddef>

namespace assay::node {

// Those that this process may run on, at least one.
[[nodiscard]] unsigned cores_here();

// Of `cores`, those that emulated kernels may work on: two per GPU are left to who times there and
// who answers it, as far as half of all remain, and at least one.
[[nodiscard]] unsigned emulator_cores(unsigned cores, std::size_t gpus);

}  // namespace assay::node
