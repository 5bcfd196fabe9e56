// Which words only host code says. Private to this room. Pure; any thread.
#pragma once

#include <string_view>

#include "engine/source/token.h"

namespace assay::source {

// Whether the tokens [begin, end) speak of anything that device code has not: the CUDA runtime,
// torch, Python, streams, containers, a launch.
[[nodiscard]] bool speaks_of_host(const Tokens& tokens, std::size_t begin, std::size_t end);

// "<cuda_fp16.h>": whether a run-time compiler can take it.
[[nodiscard]] bool is_device_header(std::string_view include);

}  // namespace assay::source
