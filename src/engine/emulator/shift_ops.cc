// Shifts: shl shr and the funnel shf. Amounts are 32 bits.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

// --- shifts: amounts are 32-bit and clamp at the width ---
enum class Shift { left, logical, arithmetic };
template <class T, Shift Kind, bool Masked>
void shift32(Warp& w, const Op& op) {
  Chunk<T>* const d = chunks<T>(w, op.d);
  const Chunk<T>* const a = chunks<T>(w, op.a);
  const Chunk<U32>* const b = chunks<U32>(w, op.b);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const Chunk<U32> n = b[q] > 31U ? splat<U32>(31U) : b[q];
    const auto m = reinterpret_cast<Chunk<T>>(n);
    Chunk<T> r = Kind == Shift::left ? a[q] << m : a[q] >> m;
    if constexpr (Kind != Shift::arithmetic) {
      r &= reinterpret_cast<Chunk<T>>(b[q] <= 31U);
    }
    put<T, Masked>(d, q, r, w.active);
  }
}
template <class T, Shift Kind, bool Masked>
void shift64(Warp& w, const Op& op) {
  typedef U32 Half __attribute__((vector_size(16), may_alias));
  Chunk<T>* const d = chunks<T>(w, op.d);
  const Chunk<T>* const a = chunks<T>(w, op.a);
  const auto* const b = reinterpret_cast<const Half*>(w.rows + op.b);
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) {
    const Chunk<U64> wide = __builtin_convertvector(b[q], Chunk<U64>);
    const Chunk<U64> n = wide > 63U ? splat<U64>(63U) : wide;
    const auto m = reinterpret_cast<Chunk<T>>(n);
    Chunk<T> r = Kind == Shift::left ? a[q] << m : a[q] >> m;
    if constexpr (Kind != Shift::arithmetic) r &= reinterpret_cast<Chunk<T>>(wide <= 63U);
    put<T, Masked>(d, q, r, w.active);
  }
}
template <Shift Kind>
struct Shift16 {
  static U16 of(U16 a, U32 b, const Op&) {
    if constexpr (Kind == Shift::arithmetic) {
      return static_cast<U16>(static_cast<S16>(a) >> (b > 15 ? 15 : b));
    }
    if (b > 15) return 0;
    return static_cast<U16>(Kind == Shift::left ? a << b : a >> b);
  }
};

// Bits 32..63 (left) or 0..31 (right) of the 64-bit value c:… shifted.
template <bool Left, bool Clamp>
struct Funnel {
  static U32 of(U32 a, U32 b, U32 c, const Op&) {
    const U32 n = Clamp ? (c > 32 ? 32 : c) : c & 31U;
    const U64 v = U64{b} << 32 | a;
    return static_cast<U32>(Left ? (n == 32 ? static_cast<U64>(a) : v << n >> 32)
                                 : (n == 32 ? v >> 32 : v >> n));
  }
};

bool shift(Form& form, Selection& s) {
  const bool left = form.base() == "shl";
  const Type t = form.take_type();
  s.operands = {t, t, Type::u32};
  if (left ? !is_bits(t) : !(is_bits(t) || is_integer(t))) return false;
  const bool arithmetic = is_signed(t);
  switch (bits_of(t)) {
    case 16:
      s.handlers = both(left         ? &each2<U16, U16, U32, Shift16<Shift::left>>
                        : arithmetic ? &each2<U16, U16, U32, Shift16<Shift::arithmetic>>
                                     : &each2<U16, U16, U32, Shift16<Shift::logical>>);
      return true;
    case 32:
      s.handlers =
          left ? chained<&shift32<U32, Shift::left, false>, &shift32<U32, Shift::left, true>>()
          : arithmetic ? chained<&shift32<S32, Shift::arithmetic, false>,
                                 &shift32<S32, Shift::arithmetic, true>>()
                       : chained<&shift32<U32, Shift::logical, false>,
                                 &shift32<U32, Shift::logical, true>>();
      return true;
    case 64:
      s.handlers =
          left ? chained<&shift64<U64, Shift::left, false>, &shift64<U64, Shift::left, true>>()
          : arithmetic ? chained<&shift64<S64, Shift::arithmetic, false>,
                                 &shift64<S64, Shift::arithmetic, true>>()
                       : chained<&shift64<U64, Shift::logical, false>,
                                 &shift64<U64, Shift::logical, true>>();
      return true;
    default:
      return false;
  }
}

bool funnel(Form& form, Selection& s) {
  const bool left = form.take("l");
  if (!left && !form.take("r")) return false;
  const bool clamp = form.take("clamp");
  if (!clamp && !form.take("wrap")) return false;
  if (form.take_type() != Type::b32) return false;
  s.operands = {Type::b32, Type::b32, Type::b32, Type::b32};
  s.handlers = both(left ? (clamp ? &each3<U32, U32, U32, U32, Funnel<true, true>>
                                  : &each3<U32, U32, U32, U32, Funnel<true, false>>)
                         : (clamp ? &each3<U32, U32, U32, U32, Funnel<false, true>>
                                  : &each3<U32, U32, U32, U32, Funnel<false, false>>));
  return true;
}

}  // namespace

bool select_shift(Form& form, Selection& s) {
  return form.base() == "shf" ? funnel(form, s) : shift(form, s);
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
