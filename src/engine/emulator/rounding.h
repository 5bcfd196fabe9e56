// Directed rounding for a stretch of handler code, and the float constants of PTX. For *_ops.cc
// only.
#pragma once

#include <cfenv>

#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {

enum class Round : std::uint8_t { nearest, zero, minus, plus };

#ifdef __SSE2__
ASSAY_INLINE void set_rounding(Round r) {
  // MXCSR bits 13 and 14; everything else is the default environment.
  const unsigned bits = r == Round::nearest ? 0U
                        : r == Round::minus ? 1U
                        : r == Round::plus  ? 2U
                                            : 3U;
  const unsigned csr = 0x1F80U | bits << 13;
  asm volatile("ldmxcsr %0" : : "m"(csr) : "memory");
}
#else
ASSAY_INLINE void set_rounding(Round r) {
  std::fesetround(r == Round::nearest ? FE_TONEAREST
                  : r == Round::minus ? FE_DOWNWARD
                  : r == Round::plus  ? FE_UPWARD
                                      : FE_TOWARDZERO);
  asm volatile("" : : : "memory");
}
#endif

// Runs H with every operation rounded as R. H reads and writes memory only, which the barriers pin
// down.
template <Handler H, Round R>
void with_rounding(Warp& w, const Op& op) {
  set_rounding(R);
  H(w, op);
  asm volatile("" : : : "memory");
  set_rounding(Round::nearest);
}

ASSAY_INLINE Round take_rounding(Form& form) {
  if (form.take("rz")) return Round::zero;
  if (form.take("rm")) return Round::minus;
  if (form.take("rp")) return Round::plus;
  form.take("rn");
  return Round::nearest;
}

inline constexpr unsigned kNanBits = 0x7FFFFFFFU;  // the NaN every f32 operation makes

ASSAY_INLINE float nan32() { return __builtin_bit_cast(float, kNanBits); }

// Subnormal numbers to zero of the same sign.
ASSAY_INLINE Chunk<float> flush(Chunk<float> v) {
  const auto bits = reinterpret_cast<Chunk<unsigned>>(v);
  const Chunk<unsigned> sign = bits & 0x80000000U;
  return reinterpret_cast<Chunk<float>>((bits & 0x7F800000U) == 0 ? sign : bits);
}
ASSAY_INLINE float flush(float v) {
  const unsigned bits = __builtin_bit_cast(unsigned, v);
  return (bits & 0x7F800000U) == 0 ? __builtin_bit_cast(float, bits & 0x80000000U) : v;
}

ASSAY_INLINE Chunk<float> canonical(Chunk<float> v) { return v == v ? v : splat<float>(nan32()); }
ASSAY_INLINE float canonical(float v) { return v == v ? v : nan32(); }
ASSAY_INLINE Chunk<double> canonical(Chunk<double> v) { return v; }
ASSAY_INLINE double canonical(double v) { return v; }

// [0, 1], NaN to +0.
template <class V>
ASSAY_INLINE V saturate(V v) {
  const V zero{};
  const V one = zero + 1;
  const V r = v > zero ? v : zero;
  return r < one ? r : one;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
