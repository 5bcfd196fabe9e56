// Floats narrower than 32 bits as values, for code that is compiled once for every processor:
// matrices, 8-bit floats, tf32. Pure functions.
#pragma once

#include <cstdint>

namespace assay::emulator {

struct FloatFormat {
  int exponent_bits = 5;
  int mantissa_bits = 10;
  bool has_infinity = true;  // e4m3 has none: its largest code is the NaN
};
inline constexpr FloatFormat kHalf{5, 10, true};
inline constexpr FloatFormat kE4m3{4, 3, false};
inline constexpr FloatFormat kE5m2{5, 2, true};

[[nodiscard]] double decode_float(const FloatFormat& format, std::uint32_t bits);
// Rounded to nearest, ties to even; NaN becomes the format's positive one with all bits set.
// `saturate`: what is too large, infinity included, becomes the largest finite number.
[[nodiscard]] std::uint32_t encode_float(const FloatFormat& format, double value, bool saturate);

enum class TensorRounding : std::uint8_t { nearest_even, nearest_away, toward_zero };
// The bits of a float with 10 bits of mantissa.
[[nodiscard]] std::uint32_t round_to_tf32(std::uint32_t float_bits, TensorRounding rounding,
                                          bool saturate);

}  // namespace assay::emulator
