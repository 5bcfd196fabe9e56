#include "engine/emulator/float_formats.h"

#include <cmath>

namespace assay::emulator {

double decode_float(const FloatFormat& format, std::uint32_t bits) {
  const int m = format.mantissa_bits;
  const std::uint32_t mantissa = bits & ((1U << m) - 1);
  const std::uint32_t top = (1U << format.exponent_bits) - 1;
  const std::uint32_t exponent = bits >> m & top;
  const bool negative = (bits >> (m + format.exponent_bits) & 1U) != 0;
  const int bias = static_cast<int>(top >> 1);
  double v = 0;
  if (exponent == top && format.has_infinity) {
    v = mantissa != 0 ? NAN : INFINITY;
  } else if (exponent == top && mantissa == (1U << m) - 1 && !format.has_infinity) {
    v = NAN;
  } else if (exponent == 0) {
    v = std::ldexp(mantissa, 1 - bias - m);
  } else {
    v = std::ldexp(mantissa + (1U << m), static_cast<int>(exponent) - bias - m);
  }
  return negative ? -v : v;
}

std::uint32_t encode_float(const FloatFormat& format, double value, bool saturate) {
  const int m = format.mantissa_bits;
  const std::uint32_t all = (1U << (m + format.exponent_bits)) - 1;  // without the sign
  if (value != value) return all;
  const std::uint32_t sign = std::signbit(value) ? all + 1 : 0;
  const std::uint32_t infinity = all & ~((1U << m) - 1);
  const std::uint32_t largest = format.has_infinity ? infinity - 1 : all - 1;
  const std::uint32_t beyond = saturate ? largest : format.has_infinity ? infinity : all;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | beyond;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  const int biased = exponent - 1 + bias < 1 ? 1 : exponent - 1 + bias;
  const double units = std::nearbyint(std::ldexp(magnitude, m - (biased - bias)));
  // The implicit bit of a normal number carries into the exponent, as does rounding up.
  const double code = units + std::ldexp(biased - 1, m);
  return sign | (code > largest ? beyond : static_cast<std::uint32_t>(code));
}

std::uint32_t round_to_tf32(std::uint32_t float_bits, TensorRounding rounding, bool saturate) {
  constexpr std::uint32_t kDropped = 0x1FFF;
  constexpr std::uint32_t kInfinity = 0x7F80'0000;
  const std::uint32_t sign = float_bits & 0x8000'0000;
  std::uint32_t bits = float_bits & 0x7FFF'FFFF;
  if (bits > kInfinity) return 0x7FFF'FFFF;
  if (bits < kInfinity) {
    if (rounding == TensorRounding::nearest_away) bits += 0x1000;
    if (rounding == TensorRounding::nearest_even) bits += 0xFFF + (bits >> 13 & 1U);
  }
  bits &= ~kDropped;
  if (saturate && bits >= kInfinity) bits = 0x7F7F'E000;
  return sign | bits;
}

}  // namespace assay::emulator
