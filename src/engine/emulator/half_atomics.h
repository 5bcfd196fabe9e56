// What atomics do to 16-bit floats and pairs of them, in software: compiled once, for any
// processor. For atomic_ops.cc only.
#pragma once

#include <bit>
#include <cstdint>

namespace assay::emulator {

inline float widen_half(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000U) << 16;
  const std::uint32_t rest = h & 0x7FFFU;
  if (rest >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (rest & 0x3FFU) << 13);
  if (rest >= 0x400U) return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000U));
  const float v = static_cast<float>(rest) * 0x1p-24F;
  return sign != 0 ? -v : v;
}
inline std::uint16_t narrow_half(float v) {
  if (v != v) return 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint16_t sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t rest = bits & 0x7FFFFFFFU;
  if (rest >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (rest < 0x38800000U) {
    // Subnormal: the scaled magnitude, rounded by the addition itself.
    const float scaled = std::bit_cast<float>(rest) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(scaled) - 0x3F000000U));
  }
  const std::uint32_t rounded = rest + 0xFFFU + (rest >> 13 & 1U) - 0x38000000U;
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}
struct AddHalf {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    return narrow_half(widen_half(a) + widen_half(b));
  }
};
struct AddBfloat {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    const float sum = std::bit_cast<float>(static_cast<std::uint32_t>(a) << 16) +
                      std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
    if (sum != sum) return 0x7FFF;
    const auto bits = std::bit_cast<std::uint32_t>(sum);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
  }
};
// The lesser or greater one; a number where the other is none.
template <bool IsMax, float (*Widen)(std::uint16_t)>
struct OrderHalf {
  static std::uint16_t of(std::uint16_t a, std::uint16_t b, std::uint16_t) {
    const float x = Widen(a);
    const float y = Widen(b);
    if (x != x || y != y) return x != x && y != y ? std::uint16_t{0x7FFF} : x != x ? b : a;
    if (x == y) return IsMax ? a & b : a | b;  // zeros differ in sign
    return (IsMax ? x > y : x < y) ? a : b;
  }
};
template <class F>
struct OfPair {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b, std::uint32_t) {
    const std::uint16_t low =
        F::of(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b), 0);
    const std::uint16_t high =
        F::of(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16), 0);
    return static_cast<std::uint32_t>(high) << 16 | low;
  }
};
inline float widen_bfloat(std::uint16_t h) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(h) << 16);
}

}  // namespace assay::emulator
