// What a full compiler's headers give device code and a run-time compiler's lack: limits of
// numbers, INFINITY, fixed-width integers, a little of namespace std. Private to this room. Pure;
// any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/source/preprocess.h"

namespace assay::source {

// Whether device code may say std::name: "numeric_limits", "tanh".
[[nodiscard]] bool is_device_std(std::string_view name);

// Compiler options ("-DFLT_MAX=…", "--pre-include=cuda/std/limits") for the words that the source
// uses and does not define.
[[nodiscard]] std::vector<std::string> substitute_options(const Unit& unit);

// The same for a source that includes <cub/cub.cuh>, which no run-time compiler can read.
[[nodiscard]] std::vector<std::string> cub_options(const Unit& unit);

// std::numeric_limits → cuda::std::numeric_limits, where the latter exists; std::tanh →
// assay::std::tanh, which is ours; std::max(a, b) → max(a, b). Lines stay.
[[nodiscard]] std::string with_device_std(std::string_view source);

}  // namespace assay::source
