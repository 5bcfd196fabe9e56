// f16, bf16 and their packed pairs: add sub mul fma neg abs min max ex2 tanh, and cvt of pairs.
#include "engine/emulator/small_float.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U16 = unsigned short;
using U32 = unsigned int;

// op.aux: 0x1 ftz, 0x2 sat, 0x4 relu
constexpr U32 kFtz = 1;
constexpr U32 kSat = 2;
constexpr U32 kRelu = 4;

template <class Fmt>
ASSAY_INLINE U16 flush16(U16 h, U32 aux) {
  if (Fmt::kBias == 15 && (aux & kFtz) != 0 && (h & 0x7C00U) == 0) return h & 0x8000U;
  return h;
}

template <class Fmt>
ASSAY_INLINE U16 finish(U16 h, U32 aux) {
  h = flush16<Fmt>(h, aux);
  const float v = Fmt::widen(h);
  if ((aux & kSat) != 0) {
    if (!(v > 0)) return 0;
    if (v > 1) return narrow_nearest<Fmt>(1.0F);
  }
  if ((aux & kRelu) != 0 && !(v > 0) && v == v) return 0;
  return h;
}

// A float holds sums and products of 16-bit floats closely enough that rounding twice is rounding
// once.
template <class Fmt>
struct Add {
  static U16 of(U16 a, U16 b, U32) { return narrow_nearest<Fmt>(Fmt::widen(a) + Fmt::widen(b)); }
};
template <class Fmt>
struct Sub {
  static U16 of(U16 a, U16 b, U32) { return narrow_nearest<Fmt>(Fmt::widen(a) - Fmt::widen(b)); }
};
template <class Fmt>
struct Mul {
  static U16 of(U16 a, U16 b, U32) { return narrow_nearest<Fmt>(Fmt::widen(a) * Fmt::widen(b)); }
};
// The product is exact in a double; the sum is made sticky so that its rounding does not count
// twice.
template <class Fmt>
struct Fma {
  static U16 of(U16 a, U16 b, U16 c, U32) {
    const double p = static_cast<double>(Fmt::widen(a)) * static_cast<double>(Fmt::widen(b));
    const double x = Fmt::widen(c);
    double s = p + x;
    if (__builtin_isfinite(s)) {
      const double t = s - p;
      const double error = (p - (s - t)) + (x - t);
      auto bits = __builtin_bit_cast(unsigned long long, s);
      if (error != 0 && (bits & 1U) == 0) {
        const bool outward = (error > 0) == (s > 0);
        bits = outward ? bits + 1 : bits - 1;
        s = __builtin_bit_cast(double, bits);
      }
    }
    return narrow<Fmt>(s, Round::nearest);
  }
};
template <class Fmt>
struct Neg {
  static U16 of(U16 a, U32) { return a ^ 0x8000U; }
};
template <class Fmt>
struct Abs {
  static U16 of(U16 a, U32) { return a & 0x7FFFU; }
};
template <class Fmt, bool IsMax, bool NaN>
struct Extreme {
  static U16 of(U16 a, U16 b, U32) {
    const float x = Fmt::widen(a);
    const float y = Fmt::widen(b);
    if (x != x || y != y) {
      if (NaN || (x != x && y != y)) return 0x7FFF;
      return x != x ? b : a;
    }
    if (x == y) return IsMax ? a & b : a | b;  // zeros differ in sign
    return (IsMax ? x > y : x < y) ? a : b;
  }
};
// Of the magnitudes, with the product's sign.
template <class Fmt, bool IsMax, bool NaN>
struct SignedExtreme {
  static U16 of(U16 a, U16 b, U32 aux) {
    const U16 r = Extreme<Fmt, IsMax, NaN>::of(a & 0x7FFFU, b & 0x7FFFU, aux);
    const float v = Fmt::widen(r);
    return v == v ? static_cast<U16>(r | ((a ^ b) & 0x8000U)) : r;
  }
};
template <class Fmt>
struct Ex2 {
  static U16 of(U16 a, U32) { return narrow_nearest<Fmt>(__builtin_exp2f(Fmt::widen(a))); }
};
template <class Fmt>
struct Tanh {
  static U16 of(U16 a, U32) { return narrow_nearest<Fmt>(__builtin_tanhf(Fmt::widen(a))); }
};

// A packed pair is two halves of one lane: the row is then 64 halves, two per active lane.
template <class Fmt, class F, unsigned N, bool Packed>
void halves(Warp& w, const Op& op) {
  U16* const d = lanes_of<U16>(w, op.d);
  const U16* const a = lanes_of<U16>(w, op.a);
  const U16* const b = N > 1 ? lanes_of<U16>(w, op.b) : nullptr;
  const U16* const c = N > 2 ? lanes_of<U16>(w, op.c) : nullptr;
  constexpr unsigned kPer = Packed ? 2 : 1;
  const auto in = [&](U16 h) { return flush16<Fmt>(h, op.aux); };
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m)) * kPer;
    for (unsigned i = k; i < k + kPer; ++i) {
      U16 r = 0;
      if constexpr (N == 1) r = F::of(in(a[i]), op.aux);
      if constexpr (N == 2) r = F::of(in(a[i]), in(b[i]), op.aux);
      if constexpr (N == 3) r = F::of(in(a[i]), in(b[i]), in(c[i]), op.aux);
      d[i] = op.aux != 0 ? finish<Fmt>(r, op.aux) : r;
    }
  }
}

template <template <class> class F, unsigned N>
bool typed(Form& form, Selection& s) {
  form.take("rn");
  if (form.take("ftz")) s.aux |= kFtz;
  if (form.take("sat")) s.aux |= kSat;
  if (form.take("relu")) s.aux |= kRelu;
  const Type t = form.take_type();
  for (unsigned i = 0; i <= N; ++i) s.operands[i] = t;
  switch (t) {
    case Type::f16:
      s.handlers = both(&halves<F16, F<F16>, N, false>);
      return true;
    case Type::f16x2:
      s.handlers = both(&halves<F16, F<F16>, N, true>);
      return true;
    case Type::bf16:
      s.handlers = both(&halves<BF16, F<BF16>, N, false>);
      return true;
    case Type::bf16x2:
      s.handlers = both(&halves<BF16, F<BF16>, N, true>);
      return true;
    default:
      return false;
  }
}

template <class Fmt>
using MinOf = Extreme<Fmt, false, false>;
template <class Fmt>
using MaxOf = Extreme<Fmt, true, false>;
template <class Fmt>
using MinNaN = Extreme<Fmt, false, true>;
template <class Fmt>
using MaxNaN = Extreme<Fmt, true, true>;

template <class Fmt>
using MinSigned = SignedExtreme<Fmt, false, false>;
template <class Fmt>
using MaxSigned = SignedExtreme<Fmt, true, false>;
template <class Fmt>
using MinSignedNaN = SignedExtreme<Fmt, false, true>;
template <class Fmt>
using MaxSignedNaN = SignedExtreme<Fmt, true, true>;

// cvt.rn.f16x2.f32 d, a, b: a to the high half, b to the low one. op.aux: 0x3 rounding, then flags.
template <class Fmt>
void pack_pair(Warp& w, const Op& op) {
  U32* const d = lanes_of<U32>(w, op.d);
  const float* const a = lanes_of<float>(w, op.a);
  const float* const b = lanes_of<float>(w, op.b);
  const auto r = static_cast<Round>(op.aux & 3U);
  const bool relu = (op.aux & 0x10U) != 0;
  const bool finite = (op.aux & 0x20U) != 0;
  const auto one = [&](float v) -> U32 {
    const float x = relu && !(v > 0) && v == v ? 0.0F : v;
    return narrow<Fmt>(static_cast<double>(x), r, finite);
  };
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[k] = one(a[k]) << 16 | one(b[k]);
  }
}

bool convert_pair(Form& form, Selection& s) {
  s.aux = static_cast<std::uint32_t>(take_rounding(form));
  if (form.take("relu")) s.aux |= 0x10U;
  if (form.take("satfinite")) s.aux |= 0x20U;
  const Type d = form.take_type();
  if (form.take_type() != Type::f32) return false;
  s.operands = {Type::b32, Type::f32, Type::f32};
  s.handlers = both(d == Type::f16x2 ? &pack_pair<F16> : &pack_pair<BF16>);
  return d == Type::f16x2 || d == Type::bf16x2;
}

bool extreme(Form& form, Selection& s, bool is_max) {
  if (form.take("ftz")) s.aux |= kFtz;
  const bool nan = form.take("NaN");
  if (form.take("xorsign")) {
    if (!form.take("abs")) return false;
    if (nan) return is_max ? typed<MaxSignedNaN, 2>(form, s) : typed<MinSignedNaN, 2>(form, s);
    return is_max ? typed<MaxSigned, 2>(form, s) : typed<MinSigned, 2>(form, s);
  }
  if (nan) {
    return is_max ? typed<MaxNaN, 2>(form, s) : typed<MinNaN, 2>(form, s);
  }
  return is_max ? typed<MaxOf, 2>(form, s) : typed<MinOf, 2>(form, s);
}

}  // namespace

bool select_half(Form& form, Selection& s) {
  Form f = form;
  const std::string_view base = f.base();
  bool found = false;
  if (base == "cvt") found = convert_pair(f, s);
  if (base == "add") found = typed<Add, 2>(f, s);
  if (base == "sub") found = typed<Sub, 2>(f, s);
  if (base == "mul") found = typed<Mul, 2>(f, s);
  if (base == "fma") found = typed<Fma, 3>(f, s);
  if (base == "neg") found = typed<Neg, 1>(f, s);
  if (base == "abs") found = typed<Abs, 1>(f, s);
  if (base == "min" || base == "max") found = extreme(f, s, base == "max");
  if (base == "ex2" && f.take("approx")) found = typed<Ex2, 1>(f, s);
  if (base == "tanh" && f.take("approx")) found = typed<Tanh, 1>(f, s);
  if (found) {
    form = f;
  } else {
    s = {};
  }
  return found;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
