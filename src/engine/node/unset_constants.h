// Variables in constant memory that a program reads and nobody fills: a host would, by
// cudaMemcpyToSymbol, and a judged kernel has none. They hold zeros, without a word from anybody.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::node {

// By the names of the PTX that NVRTC writes, in its order, at most eight: declared without values,
// and named again.
[[nodiscard]] std::vector<std::string> unset_constants(std::string_view ptx);

}  // namespace assay::node
