#include "engine/judge/scalar_conversion.h"

#include <bit>
#include <stdexcept>

namespace assay::judge {
namespace {

using contract::DType;

struct Format {
  int mantissa_bits;
  int exponent_bias;
  std::uint32_t sign;
  std::uint32_t highest;   // the largest finite value
  std::uint32_t overflow;  // what lies beyond it: infinity or NaN
  std::uint32_t nan;
};
constexpr Format kFloat16{10, 15, 0x8000, 0x7BFF, 0x7C00, 0x7E00};
constexpr Format kBFloat16{7, 127, 0x8000, 0x7F7F, 0x7F80, 0x7FC0};
constexpr Format kFloat8E4M3{3, 7, 0x80, 0x7E, 0x7F, 0x7F};
constexpr Format kFloat8E5M2{2, 15, 0x80, 0x7B, 0x7C, 0x7F};

constexpr std::uint64_t kMagnitude64 = 0x7FFFFFFFFFFFFFFF;
constexpr std::uint64_t kInfinity64 = 0x7FF0000000000000;

std::uint64_t encode(double value, const Format& format) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = (bits >> 63) != 0 ? format.sign : 0;
  const std::uint64_t magnitude = bits & kMagnitude64;
  if (magnitude > kInfinity64) return sign | format.nan;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const int lowest_exponent = 1 - format.exponent_bias;
  // Each step below the normal range costs one bit of the significand.
  const int below = exponent < lowest_exponent ? lowest_exponent - exponent : 0;
  const int shift = 52 - format.mantissa_bits + below;
  if (shift > 54) return sign;  // less than half of the smallest subnormal
  const std::uint64_t significand = (magnitude & 0xFFFFFFFFFFFFF) | (1ULL << 52);
  const std::uint64_t rest = significand & ((1ULL << shift) - 1);
  const std::uint64_t half = 1ULL << (shift - 1);
  std::uint64_t result = significand >> shift;
  if (rest > half || (rest == half && (result & 1) != 0)) ++result;
  // The leading one adds 1 to the exponent field, as does a carry out of the rounding.
  if (below == 0) {
    result += static_cast<std::uint64_t>(exponent - lowest_exponent) << format.mantissa_bits;
  }
  return sign | (result > format.highest ? format.overflow : result);
}

double decode(std::uint64_t bits, const Format& format) {
  const auto magnitude = static_cast<std::uint32_t>(bits) & (format.sign - 1);
  const std::uint64_t sign = (bits & format.sign) != 0 ? 1ULL << 63 : 0;
  if (magnitude > format.highest) {
    const bool infinite = magnitude == format.overflow && format.overflow != format.nan;
    return std::bit_cast<double>(sign | (infinite ? kInfinity64 : 0x7FF8000000000000));
  }
  const std::uint32_t exponent = magnitude >> format.mantissa_bits;
  const std::uint64_t mantissa = magnitude & ((1U << format.mantissa_bits) - 1);
  if (exponent == 0) {
    const int scale = 1 - format.exponent_bias - format.mantissa_bits;
    const auto unit = std::bit_cast<double>(static_cast<std::uint64_t>(scale + 1023) << 52);
    const double value = static_cast<double>(mantissa) * unit;
    return sign != 0 ? -value : value;
  }
  const auto wide =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(exponent) - format.exponent_bias + 1023);
  return std::bit_cast<double>(sign | (wide << 52) | (mantissa << (52 - format.mantissa_bits)));
}

std::uint64_t sign_bit(DType dtype) { return 1ULL << (8 * contract::size_bytes(dtype) - 1); }

std::uint64_t from_ordinal(std::int64_t position, DType dtype) {
  if (position >= 0) return static_cast<std::uint64_t>(position);
  return sign_bit(dtype) | static_cast<std::uint64_t>(-position);
}

[[noreturn]] void refuse() {
  throw std::invalid_argument("scalar conversion: not a floating type");
}

}  // namespace

std::uint64_t to_bits(double value, DType dtype) {
  switch (dtype) {
    case DType::float64:
      if (value != value)
        return (std::bit_cast<std::uint64_t>(value) & ~kMagnitude64) | 0x7FF8000000000000;
      return std::bit_cast<std::uint64_t>(value);
    case DType::float32:
      if (value != value) {
        return ((std::bit_cast<std::uint64_t>(value) >> 32) & 0x80000000U) | 0x7FC00000U;
      }
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::float16:
      return encode(value, kFloat16);
    case DType::bfloat16:
      return encode(value, kBFloat16);
    case DType::float8_e4m3fn:
      return encode(value, kFloat8E4M3);
    case DType::float8_e5m2:
      return encode(value, kFloat8E5M2);
    default:
      refuse();
  }
}

double from_bits(std::uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::bit_cast<double>(bits);
    case DType::float32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case DType::float16:
      return decode(bits, kFloat16);
    case DType::bfloat16:
      return decode(bits, kBFloat16);
    case DType::float8_e4m3fn:
      return decode(bits, kFloat8E4M3);
    case DType::float8_e5m2:
      return decode(bits, kFloat8E5M2);
    default:
      refuse();
  }
}

std::int64_t ordinal(std::uint64_t bits, DType dtype) {
  const std::uint64_t sign = sign_bit(dtype);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::uint64_t next_up(std::uint64_t bits, DType dtype) {
  return from_ordinal(ordinal(bits, dtype) + 1, dtype);
}

std::uint64_t next_down(std::uint64_t bits, DType dtype) {
  return from_ordinal(ordinal(bits, dtype) - 1, dtype);
}

}  // namespace assay::judge
