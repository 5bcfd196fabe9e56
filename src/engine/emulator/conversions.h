// What the files of cvt share: how values are read and rounded to integers, and the modifiers. For
// *_ops.cc only.
#pragma once

#include "engine/emulator/small_float.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {

using U16 = unsigned short;
using U32 = unsigned int;
using U64 = unsigned long long;
using S64 = long long;

// op.imm of integer ends: bits and sign of source and destination.
struct Ends {
  unsigned src_bits = 32;
  bool src_signed = false;
  unsigned dst_bits = 32;
  bool dst_signed = false;
  bool saturate = false;
};
inline std::int64_t pack(const Ends& e) {
  return static_cast<std::int64_t>(e.src_bits | e.dst_bits << 8 | (e.src_signed ? 1U << 16 : 0U) |
                                   (e.dst_signed ? 1U << 17 : 0U) | (e.saturate ? 1U << 18 : 0U));
}
ASSAY_INLINE Ends unpack(std::int64_t imm) {
  const auto v = static_cast<U32>(imm);
  return {v & 0xFFU, (v >> 16 & 1U) != 0, v >> 8 & 0xFFU, (v >> 17 & 1U) != 0, (v >> 18 & 1U) != 0};
}

// The low `bits` of v with their sign.
ASSAY_INLINE U64 extend(U64 v, unsigned bits, bool with_sign) {
  const unsigned n = 64 - bits;
  return with_sign ? static_cast<U64>(static_cast<S64>(v << n) >> n) : v << n >> n;
}

// --- floats to integers: op.aux is the rounding ---
ASSAY_INLINE double to_integral(double v, Round r) {
  switch (r) {
    case Round::zero:
      return __builtin_trunc(v);
    case Round::minus:
      return __builtin_floor(v);
    case Round::plus:
      return __builtin_ceil(v);
    case Round::nearest:
      break;
  }
  return __builtin_rint(v);
}

struct ReadF32 {
  using Row = float;
  ASSAY_INLINE static double of(float v) { return v; }
};
struct ReadF32Ftz {
  using Row = float;
  ASSAY_INLINE static double of(float v) { return flush(v); }
};
struct ReadF64 {
  using Row = double;
  ASSAY_INLINE static double of(double v) { return v; }
};
struct ReadF16 {
  using Row = U16;
  ASSAY_INLINE static double of(U16 v) { return F16::widen(v); }
};
struct ReadBF16 {
  using Row = U16;
  ASSAY_INLINE static double of(U16 v) { return BF16::widen(v); }
};

// --- floats to floats; op.aux: 0x3 rounding, 0x10 to an integral value, 0x20 sat, 0x40 ftz,
// 0x80 relu, 0x100 satfinite ---
inline constexpr U32 kIntegral = 0x10;
inline constexpr U32 kSat = 0x20;
inline constexpr U32 kFtz = 0x40;
inline constexpr U32 kRelu = 0x80;
inline constexpr U32 kFinite = 0x100;

struct ConvertModifiers {
  Round round = Round::nearest;
  bool integral = false;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool finite = false;
};

inline ConvertModifiers take_modifiers(Form& form) {
  ConvertModifiers m;
  struct Name {
    std::string_view text;
    Round round;
    bool integral;
  };
  constexpr Name kNames[] = {{"rni", Round::nearest, true}, {"rzi", Round::zero, true},
                             {"rmi", Round::minus, true},   {"rpi", Round::plus, true},
                             {"rn", Round::nearest, false}, {"rz", Round::zero, false},
                             {"rm", Round::minus, false},   {"rp", Round::plus, false}};
  for (const Name& n : kNames) {
    if (!form.take(n.text)) continue;
    m.round = n.round;
    m.integral = n.integral;
    break;
  }
  m.ftz = form.take("ftz");
  m.sat = form.take("sat");
  m.relu = form.take("relu");
  m.finite = form.take("satfinite");
  return m;
}

// convert_float_ops.cc: between floats. Empty if there is no such conversion.
Handlers select_floats(Type src, Type dst, const ConvertModifiers& m);

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
