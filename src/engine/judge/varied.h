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

// Likewise what is no mask and no label. Zeros and ones stay such, booleans too: of zeros alone
// about a quarter become ones, else about a quarter of the ones become zeros; where each row has a
// single one, all are moved along their rows by as much; rows of ones and then zeros, which are
// lengths, become shorter, but for those of one; a square that is equal to its transpose stays so,
// and of numbers rows that sum to one do. Of signs (-1, 0, 1) about a quarter change. `row`
// elements at a time belong together: the first and the last that could change in each stay, so
// that a mask still leaves something of every row. One or two zeros become numbers in [1/4, 1).
void vary_masks_too(std::span<std::byte> tensor, contract::DType dtype, std::uint64_t seed,
                    std::uint64_t row);

}  // namespace assay::judge
