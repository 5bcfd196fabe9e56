// Headers of torch that a host half needs and that are not compiled ahead
// (engine/python/wrapper/wrapper.h): those it includes beside the ones for everything, and of
// <torch/extension.h> the parts that its words name. Pure; any thread; linear.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

// "ATen/Parallel.h", each once, in the order of the source. Not those of torch's CUDA parts, which
// have stand-ins.
[[nodiscard]] std::vector<std::string> torch_headers(std::string_view source);

// What includes them before the source, past the words that mean the CPU there; empty without any.
[[nodiscard]] std::string torch_prelude(std::string_view source);

}  // namespace assay::source
