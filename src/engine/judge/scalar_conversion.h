// Between double and the bits of each floating type, the same on every machine.
//
// Rounding is to nearest, ties to even, in one step from double. Overflow goes to infinity, in
// float8_e4m3fn, which has none, to NaN (values beyond 464; so does infinity). Subnormals are kept.
// A NaN becomes the type's quiet NaN with the sign kept; signalling NaNs are told apart by their
// bits only.
//
// Pure; any thread.
#pragma once

#include <cstdint>

#include "engine/contract/dtype.h"

namespace assay::judge {

// The bits of `value` in a real floating type. REQUIRES is_floating(dtype).
[[nodiscard]] std::uint64_t to_bits(double value, contract::DType dtype);

// The exact value of the bits; every type here fits in double. REQUIRES is_floating(dtype).
[[nodiscard]] double from_bits(std::uint64_t bits, contract::DType dtype);

// The position of the bits on the type's number line: consecutive finite values differ by 1, both
// zeros are 0. REQUIRES not NaN.
[[nodiscard]] std::int64_t ordinal(std::uint64_t bits, contract::DType dtype);

// The nearest value of the type in the given direction from a value of the type.
[[nodiscard]] std::uint64_t next_up(std::uint64_t bits, contract::DType dtype);
[[nodiscard]] std::uint64_t next_down(std::uint64_t bits, contract::DType dtype);

}  // namespace assay::judge
