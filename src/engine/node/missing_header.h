// A header of CUDA's that this machine lacks is no mistake of the author's: a small toolkit (NVRTC
// with its headers, as pip has it) comes without the libraries.
//
// Values; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/node/ended.h"

namespace assay::node {

// The header that a compiler's first error is about, if it is one of CUDA's own.
[[nodiscard]] std::optional<std::string> missing_cuda_header(std::string_view error);

// How that is told; `error` with its place.
[[nodiscard]] Ended lacks_header(const std::string& header, const std::string& error);

}  // namespace assay::node
