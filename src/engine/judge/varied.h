// Other contents for a tensor that always holds the same: whether an answer follows its inputs
// shows on contents that nobody could know beforehand, and a task should mean as much on them.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/contract/dtype.h"

namespace assay::judge {

// Each number x, or component of one, becomes s (x + r x |x| / m) / (1 + r): m is the greatest |x|,
// s in [0.6, 0.9) and r in [0.5, 1) are the seed's. Order, signs, zeros, symmetry, what is equal,
// infinities and NaN stay, and nothing grows. Integers and booleans stay as they are: indexes,
// lengths and masks mean nothing else.
void vary(std::span<std::byte> tensor, contract::DType dtype, std::uint64_t seed);

}  // namespace assay::judge
