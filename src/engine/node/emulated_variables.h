// Variables of the device that host code copies to and from, on the emulator: they lie where only
// kernels reach, so that kernels copy (engine/python/wrapper/cpu_process.h), and constant memory,
// which no kernel writes, is plain memory there. Pure functions of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::node {

// The device half of a torch_cuda source, with the kernels that copy for the host half.
[[nodiscard]] std::string with_reachable_variables(std::string device,
                                                   const std::vector<std::string>& variables);

// Of the arrays in a program's memory, as NVRTC writes them: ".global .align 4 .b8 table[800];"
[[nodiscard]] std::uint64_t global_array_bytes(std::string_view ptx);

}  // namespace assay::node
