// Torch's small floats for the device's compiler. c10::Half mixes with every other number, as torch
// makes it and its sources count on (`v > 0`, `v * 2.0f`); CUDA's __half of the same bits does not.
// Torch's own build switches CUDA's operators off, and so does this.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/node/kernel_task.h"

namespace assay::node {

// Whether any of these names of kernels is an instance for a small float, as CUDA spells it.
[[nodiscard]] bool names_small_floats(const std::vector<std::string>& names);
// "scale<__half>" → "scale<c10::Half>".
[[nodiscard]] std::string with_torchs_floats(std::string name);
// The source with those types before it, and its names spelled with them. It begins with a #line.
[[nodiscard]] KernelSource with_torchs_floats(KernelSource source);

}  // namespace assay::node
