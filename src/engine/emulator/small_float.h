// f16 and bf16 to and from float, with every rounding mode. For *_ops.cc only.
#pragma once

#include "engine/emulator/rounding.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {

using Bits16 = unsigned short;

struct F16 {
  static constexpr int kMantissa = 10;
  static constexpr int kBias = 15;
  ASSAY_INLINE static float widen(Bits16 h) {
#ifdef __F16C__
    return _cvtsh_ss(h);
#else
    const unsigned sign = static_cast<unsigned>(h & 0x8000U) << 16;
    const unsigned rest = h & 0x7FFFU;
    if (rest >= 0x7C00U) {  // infinity, NaN
      return __builtin_bit_cast(float, sign | 0x7F800000U | (rest & 0x3FFU) << 13);
    }
    if (rest >= 0x400U) return __builtin_bit_cast(float, sign | ((rest << 13) + 0x38000000U));
    const float v = static_cast<float>(rest) * 0x1p-24F;
    return sign != 0 ? -v : v;
#endif
  }
};

struct BF16 {
  static constexpr int kMantissa = 7;
  static constexpr int kBias = 127;
  ASSAY_INLINE static float widen(Bits16 h) {
    return __builtin_bit_cast(float, static_cast<unsigned>(h) << 16);
  }
};

// The value of a correctly rounded 16-bit float: Fmt is F16 or BF16. NaN becomes 0x7FFF.
template <class Fmt>
inline Bits16 narrow(double v, Round r, bool clamp_to_finite = false) {
  const auto bits = __builtin_bit_cast(unsigned long long, v);
  const auto sign = static_cast<Bits16>(bits >> 63 << 15);
  if (v != v) return 0x7FFF;
  constexpr int kM = Fmt::kMantissa;
  constexpr auto kInfinity = static_cast<Bits16>(((2 * Fmt::kBias + 1) << kM));
  const bool up = r == (sign != 0 ? Round::minus : Round::plus);  // away from zero
  const auto overflow = [&] {
    const bool finite = clamp_to_finite || (r != Round::nearest && !up);
    return static_cast<Bits16>(sign | (finite ? kInfinity - 1 : kInfinity));
  };
  int exponent = static_cast<int>(bits >> 52 & 0x7FFU) - 1023;
  if (exponent == 1024) {
    return clamp_to_finite ? overflow() : static_cast<Bits16>(sign | kInfinity);
  }
  unsigned long long m = bits & 0xFFFFFFFFFFFFFULL;
  if (exponent == -1023) {
    if (m == 0) return sign;
    exponent = -1022;  // subnormal double: far below any 16-bit float
  } else {
    m |= 1ULL << 52;
  }
  int shift = 52 - kM;
  int biased = exponent + Fmt::kBias;
  if (biased < 1) {
    shift += 1 - biased;
    biased = 0;
  }
  if (shift > 60) shift = 60;
  unsigned long long kept = m >> shift;
  const unsigned long long rest = m & ((1ULL << shift) - 1);
  const unsigned long long half = 1ULL << (shift - 1);
  bool increment = false;
  if (r == Round::nearest) increment = rest > half || (rest == half && (kept & 1U) != 0);
  if (up) increment = rest != 0;
  if (increment) ++kept;
  // `kept` holds the implicit bit for a normal number: adding carries into the exponent.
  const unsigned long long value =
      biased == 0 ? kept : kept + (static_cast<unsigned long long>(biased - 1) << kM);
  if (value >= kInfinity) return overflow();
  return static_cast<Bits16>(sign | static_cast<Bits16>(value));
}

// Fast for what most code does: f32 to f16, nearest.
template <class Fmt>
ASSAY_INLINE Bits16 narrow_nearest(float v) {
  if (v != v) return 0x7FFF;
  if constexpr (Fmt::kBias == 127) {
    const auto bits = __builtin_bit_cast(unsigned, v);
    return static_cast<Bits16>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
  } else {
#ifdef __F16C__
    return _cvtss_sh(v, 0);
#else
    return narrow<Fmt>(static_cast<double>(v), Round::nearest);
#endif
  }
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
