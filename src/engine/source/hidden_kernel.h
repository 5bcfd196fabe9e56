// What only a preprocessor knows of a kernel's head: whoever reads halves out of such a text cannot
// tell what of it is the device's.
//
// Values own their text. Pure; any thread; no text crashes it; linear.
#pragma once

#include <optional>
#include <string_view>

#include "engine/source/host_code.h"

namespace assay::source {

// The first kernel that a macro makes, or whose head has branches of #if; none where all are plain.
[[nodiscard]] std::optional<Obstacle> hidden_kernel(std::string_view source);

}  // namespace assay::source
