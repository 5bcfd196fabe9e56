// What device code takes of torch's own headers, which no run-time compiler has:
// "at::acc_type", "CUDA_KERNEL_LOOP". Words in comments, texts and unused macros are none, nor is
// what the source defines itself.
//
// Reading alone. Pure; any thread; no text crashes it; linear.
#pragma once

#include <optional>
#include <string_view>

#include "engine/source/host_code.h"

namespace assay::source {

// The first one of a device half (device_code.h); its line is that half's.
[[nodiscard]] std::optional<Obstacle> torch_name(std::string_view device_code);

}  // namespace assay::source
