// Which entry of a module is meant. NVRTC mangles every `__global__` that is not extern "C"; people
// name kernels as they wrote them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::runner {

// "_Z10vector_addPfi" → "vector_add(float*, int)"; a name that is not mangled comes back as it is.
[[nodiscard]] std::string display_name(const std::string& entry);
// The identifier alone: "vector_add", "ns::reduce<256>".
[[nodiscard]] std::string base_name(const std::string& entry);

// The entry whose mangled, full or base name is `wanted` (an ambiguous base name chooses nothing);
// the only or first one when `wanted` is empty. Null when there is none.
[[nodiscard]] const emulator::KernelInfo* choose_kernel(
    const std::vector<emulator::KernelInfo>& kernels, std::string_view wanted);

}  // namespace assay::runner
