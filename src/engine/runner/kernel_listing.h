// Every `__global__` of a compiled program: signature, what it needs of the hardware, and whether
// the emulator can execute it. What compile_kernel tells, in the form in which it travels to the
// engine. Pure.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/runner/resource_usage.h"

namespace assay::runner {

struct KernelListing {
  nlohmann::json kernels = nlohmann::json::array();
  bool truncated = false;
};

// A list in the PTX's order: {name, symbol, signature, arguments, parameter_bytes,
// static_shared_bytes, max_threads, resources?, unsupported?}. PTX that the emulator cannot read at
// all gives the entries of `usage`, each `unsupported`. No more kernels than fit into
// kMaxListingBytes as text.
inline constexpr std::size_t kMaxListingBytes = 256U << 10;
[[nodiscard]] KernelListing list_kernels(std::string_view ptx, std::string_view source,
                                         const std::map<std::string, ResourceUsage>& usage);

}  // namespace assay::runner
