// Between a tensor's elements and the same values as doubles, and back: each element widened
// exactly, and a double as two elements of a narrower type, rounded to it and what that leaves
// (precision.h).
//
// Pure; any thread. Sizes that disagree throw std::invalid_argument.
#pragma once

#include <cstddef>
#include <span>

#include "engine/contract/dtype.h"

namespace assay::judge {

// `wide` is of contract::wider(dtype). What has no wider type is copied.
void widen(std::span<const std::byte> elements, contract::DType dtype, std::span<std::byte> wide);

// Of what has no wider type: itself, and zeros.
void split(std::span<const std::byte> wide, contract::DType dtype, std::span<std::byte> high,
           std::span<std::byte> low);

}  // namespace assay::judge
