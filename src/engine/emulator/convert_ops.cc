// cvt: between integers, between floats, and across. A register may be wider than the value in it.
#include "engine/emulator/small_float.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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
std::int64_t pack(const Ends& e) {
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

ASSAY_INLINE U64 clamp(U64 v, const Ends& e) {
  const bool negative = e.src_signed && static_cast<S64>(v) < 0;
  if (!e.dst_signed) {
    const U64 max = ~U64{0} >> (64 - e.dst_bits);
    return negative ? 0 : v > max ? max : v;
  }
  const U64 max = ~U64{0} >> (65 - e.dst_bits);
  if (negative) {
    const S64 min = -static_cast<S64>(max) - 1;
    return static_cast<S64>(v) < min ? static_cast<U64>(min) : v;
  }
  return v > max ? max : v;
}

template <class SrcRow, class DstRow>
void integers(Warp& w, const Op& op) {
  const SrcRow* const a = lanes_of<SrcRow>(w, op.a);
  DstRow* const d = lanes_of<DstRow>(w, op.d);
  const Ends e = unpack(op.imm);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    U64 v = extend(a[k], e.src_bits, e.src_signed);
    if (e.saturate) v = clamp(v, e);
    d[k] = static_cast<DstRow>(extend(v, e.dst_bits, e.dst_signed));
  }
}

// Whole rows, no saturation: 32 to 64 bits and back.
template <class S, class D, bool Masked>
void widen64(Warp& w, const Op& op) {
  typedef S Half __attribute__((vector_size(16), may_alias));
  const auto* const a = reinterpret_cast<const Half*>(w.rows + op.a);
  Chunk<D>* const d = chunks<D>(w, op.d);
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) {
    put<D, Masked>(d, q, __builtin_convertvector(a[q], Chunk<D>), w.active);
  }
}
void narrow32(Warp& w, const Op& op) {
  const U64* const a = lanes_of<U64>(w, op.a);
  U32* const d = lanes_of<U32>(w, op.d);
  for (int k = 0; k < 32; ++k) d[k] = static_cast<U32>(a[k]);
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

ASSAY_INLINE U64 to_integer(double v, const Ends& e, Round r) {
  if (v != v) return 0;
  const double x = to_integral(v, r);
  if (e.dst_signed) {
    const double limit = static_cast<double>(1ULL << (e.dst_bits - 1));
    if (x >= limit) return ~U64{0} >> (65 - e.dst_bits);
    if (x < -limit) return static_cast<U64>(-static_cast<S64>(~U64{0} >> (65 - e.dst_bits)) - 1);
    return static_cast<U64>(static_cast<S64>(x));
  }
  if (x <= 0) return 0;
  const double limit = e.dst_bits == 64 ? 0x1p64 : static_cast<double>(1ULL << e.dst_bits);
  if (x >= limit) return ~U64{0} >> (64 - e.dst_bits);
  return static_cast<U64>(x);
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

template <class Read, class DstRow>
void float_to_integer(Warp& w, const Op& op) {
  using Row = typename Read::Row;
  const Row* const a = lanes_of<Row>(w, op.a);
  DstRow* const d = lanes_of<DstRow>(w, op.d);
  const Ends e = unpack(op.imm);
  const auto r = static_cast<Round>(op.aux);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[k] = static_cast<DstRow>(to_integer(Read::of(a[k]), e, r));
  }
}

// The common cvt.rzi.s32.f32 in vectors.
template <bool Masked>
void f32_to_s32(Warp& w, const Op& op) {
  const Chunk<float>* const a = chunks<float>(w, op.a);
  Chunk<int>* const d = chunks<int>(w, op.d);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const Chunk<float> v = a[q];
    const Chunk<int> big = v >= 0x1p31F;
    const Chunk<int> inside = (v > -0x1p31F) & (v < 0x1p31F);
    const Chunk<int> r = __builtin_convertvector(inside ? v : Chunk<float>{}, Chunk<int>);
    const Chunk<int> low =
        reinterpret_cast<Chunk<int>>(v <= -0x1p31F) & static_cast<int>(0x80000000U);
    put<int, Masked>(d, q, r | low | (big & 0x7FFFFFFF), w.active);
  }
}

// --- integers to floats ---
template <class SrcRow, class D>
void integer_to_float(Warp& w, const Op& op) {
  const SrcRow* const a = lanes_of<SrcRow>(w, op.a);
  D* const d = lanes_of<D>(w, op.d);
  const Ends e = unpack(op.imm);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    const U64 v = extend(a[k], e.src_bits, e.src_signed);
    d[k] = e.src_signed ? static_cast<D>(static_cast<S64>(v)) : static_cast<D>(v);
  }
}
template <bool Masked>
void s32_to_f32(Warp& w, const Op& op) {
  const Chunk<int>* const a = chunks<int>(w, op.a);
  Chunk<float>* const d = chunks<float>(w, op.d);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    put<float, Masked>(d, q, __builtin_convertvector(a[q], Chunk<float>), w.active);
  }
}
template <class SrcRow, class Fmt>
void integer_to_small(Warp& w, const Op& op) {
  const SrcRow* const a = lanes_of<SrcRow>(w, op.a);
  U16* const d = lanes_of<U16>(w, op.d);
  const Ends e = unpack(op.imm);
  const auto r = static_cast<Round>(op.aux);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    U64 v = extend(a[k], e.src_bits, e.src_signed);
    const bool negative = e.src_signed && static_cast<S64>(v) < 0;
    if (negative) v = 0 - v;
    // Beyond a double's 53 bits only "some lower bit is set" matters.
    if (v >> 53 != 0) v = (v & ~U64{0x7FF}) | ((v & 0x7FF) != 0 ? U64{0x800} : 0);
    const auto x = static_cast<double>(v);
    d[k] = narrow<Fmt>(negative ? -x : x, r);
  }
}

// --- floats to floats; op.aux: 0x3 rounding, 0x10 to an integral value, 0x20 sat, 0x40 ftz,
// 0x80 relu, 0x100 satfinite ---
constexpr U32 kIntegral = 0x10;
constexpr U32 kSat = 0x20;
constexpr U32 kFtz = 0x40;
constexpr U32 kRelu = 0x80;
constexpr U32 kFinite = 0x100;

template <class T>
ASSAY_INLINE T limits_of(T v, U32 aux) {
  if ((aux & kSat) != 0) return v > 0 ? (v < 1 ? v : T{1}) : T{0};
  if ((aux & kRelu) != 0 && !(v > 0)) return v != v ? v : T{0};
  return v;
}

template <class Read>
void to_f32(Warp& w, const Op& op) {
  using Row = typename Read::Row;
  const Row* const a = lanes_of<Row>(w, op.a);
  float* const d = lanes_of<float>(w, op.d);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    double x = Read::of(a[k]);
    if ((op.aux & kIntegral) != 0) x = to_integral(x, static_cast<Round>(op.aux & 3U));
    float v = limits_of(canonical(static_cast<float>(x)), op.aux);
    if ((op.aux & kFtz) != 0) v = flush(v);
    d[k] = v;
  }
}
template <class Read>
void to_f64(Warp& w, const Op& op) {
  using Row = typename Read::Row;
  const Row* const a = lanes_of<Row>(w, op.a);
  double* const d = lanes_of<double>(w, op.d);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    double x = Read::of(a[k]);
    if ((op.aux & kIntegral) != 0) x = to_integral(x, static_cast<Round>(op.aux & 3U));
    d[k] = limits_of(x, op.aux);
  }
}
template <class Read, class Fmt>
void to_small(Warp& w, const Op& op) {
  using Row = typename Read::Row;
  const Row* const a = lanes_of<Row>(w, op.a);
  U16* const d = lanes_of<U16>(w, op.d);
  const auto r = static_cast<Round>(op.aux & 3U);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    double x = Read::of(a[k]);
    if ((op.aux & kIntegral) != 0) x = to_integral(x, r);
    d[k] = narrow<Fmt>(limits_of(x, op.aux), r, (op.aux & kFinite) != 0);
  }
}
template <bool Sat, bool Masked>
void f32_plain(Warp& w, const Op& op) {
  const Chunk<float>* const a = chunks<float>(w, op.a);
  Chunk<float>* const d = chunks<float>(w, op.d);
  for (int q = 0; q < 4; ++q) {
    put<float, Masked>(d, q, Sat ? saturate(a[q]) : canonical(a[q]), w.active);
  }
}

// --- selection ---
struct Modifiers {
  Round round = Round::nearest;
  bool integral = false;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
  bool finite = false;
};

Modifiers take_modifiers(Form& form) {
  Modifiers m;
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

template <class A, class B>
Handler by_rows(unsigned, unsigned) = delete;

Handlers select_integers(const Ends& e, unsigned src, unsigned dst) {
  const bool whole = e.src_bits == 8 * src && e.dst_bits == 8 * dst && !e.saturate;
  if (whole && src == 4 && dst == 8) {
    return e.src_signed ? Handlers{&widen64<int, S64, false>, &widen64<int, S64, true>}
                        : Handlers{&widen64<U32, U64, false>, &widen64<U32, U64, true>};
  }
  const auto to = [&]<class S>(S) -> Handler {
    if (dst == 2) return &integers<S, U16>;
    if (dst == 4) return &integers<S, U32>;
    return &integers<S, U64>;
  };
  const Handler h = src == 2 ? to(U16{}) : src == 4 ? to(U32{}) : to(U64{});
  if (whole && src == 8 && dst == 4) return {&narrow32, h};
  return both(h);
}

template <class Read>
Handlers select_float_to_integer(unsigned dst) {
  if (dst == 2) return both(&float_to_integer<Read, U16>);
  if (dst == 4) return both(&float_to_integer<Read, U32>);
  return both(&float_to_integer<Read, U64>);
}

template <class D>
Handlers select_integer_to_float(unsigned src, Round r) {
  const auto pick = [&]<class S>(S) -> Handler {
    switch (r) {
      case Round::zero:
        return &with_rounding<&integer_to_float<S, D>, Round::zero>;
      case Round::minus:
        return &with_rounding<&integer_to_float<S, D>, Round::minus>;
      case Round::plus:
        return &with_rounding<&integer_to_float<S, D>, Round::plus>;
      case Round::nearest:
        break;
    }
    return &integer_to_float<S, D>;
  };
  return both(src == 2 ? pick(U16{}) : src == 4 ? pick(U32{}) : pick(U64{}));
}

template <class Fmt>
Handlers select_integer_to_small(unsigned src) {
  if (src == 2) return both(&integer_to_small<U16, Fmt>);
  if (src == 4) return both(&integer_to_small<U32, Fmt>);
  return both(&integer_to_small<U64, Fmt>);
}

template <class Read>
Handlers select_from_float(Type dst, Round r) {
  switch (dst) {
    case Type::f32:
      switch (r) {
        case Round::zero:
          return both(&with_rounding<&to_f32<Read>, Round::zero>);
        case Round::minus:
          return both(&with_rounding<&to_f32<Read>, Round::minus>);
        case Round::plus:
          return both(&with_rounding<&to_f32<Read>, Round::plus>);
        case Round::nearest:
          return both(&to_f32<Read>);
      }
      return {};
    case Type::f64:
      return both(&to_f64<Read>);
    case Type::f16:
      return both(&to_small<Read, F16>);
    case Type::bf16:
      return both(&to_small<Read, BF16>);
    default:
      return {};
  }
}

Handlers select_floats(Type src, Type dst, const Modifiers& m) {
  if (src == Type::f32 && dst == Type::f32 && !m.integral && !m.ftz && !m.relu) {
    return m.sat ? Handlers{&f32_plain<true, false>, &f32_plain<true, true>}
                 : Handlers{&f32_plain<false, false>, &f32_plain<false, true>};
  }
  // An integral value needs no directed rounding of its representation.
  const Round r = m.integral ? Round::nearest : m.round;
  switch (src) {
    case Type::f32:
      return m.ftz ? select_from_float<ReadF32Ftz>(dst, r) : select_from_float<ReadF32>(dst, r);
    case Type::f64:
      return select_from_float<ReadF64>(dst, r);
    case Type::f16:
      return select_from_float<ReadF16>(dst, r);
    case Type::bf16:
      return select_from_float<ReadBF16>(dst, r);
    default:
      return {};
  }
}

Handlers select_float_source(Type src, bool ftz, unsigned dst) {
  switch (src) {
    case Type::f32:
      return ftz ? select_float_to_integer<ReadF32Ftz>(dst) : select_float_to_integer<ReadF32>(dst);
    case Type::f64:
      return select_float_to_integer<ReadF64>(dst);
    case Type::f16:
      return select_float_to_integer<ReadF16>(dst);
    case Type::bf16:
      return select_float_to_integer<ReadBF16>(dst);
    default:
      return {};
  }
}

}  // namespace

bool select_convert(Form& form, Selection& s, unsigned dst_row, unsigned src_row) {
  const Modifiers m = take_modifiers(form);
  const Type dst = form.take_type();
  const Type src = form.take_type();
  if (dst == Type::none || src == Type::none) return false;
  if (src_row == 0) src_row = register_bytes(src);
  if (src_row * 8 < bits_of(src) || dst_row * 8 < bits_of(dst)) return false;
  s.operands = {dst, src};
  Ends e{bits_of(src), is_signed(src), bits_of(dst), is_signed(dst), m.sat};
  if (is_integer(src) && is_integer(dst)) {
    s.imm = pack(e);
    s.handlers = select_integers(e, src_row, dst_row);
    return true;
  }
  if (is_integer(src) && is_float(dst)) {
    if (m.sat || m.integral || dst_row * 8 != bits_of(dst)) return false;
    s.imm = pack(e);
    s.aux = static_cast<std::uint32_t>(m.round);
    if (src == Type::s32 && dst == Type::f32 && m.round == Round::nearest && src_row == 4) {
      s.handlers = {&s32_to_f32<false>, &s32_to_f32<true>};
    } else if (dst == Type::f16 || dst == Type::bf16) {
      s.handlers = dst == Type::f16 ? select_integer_to_small<F16>(src_row)
                                    : select_integer_to_small<BF16>(src_row);
    } else {
      s.handlers = dst == Type::f32 ? select_integer_to_float<float>(src_row, m.round)
                                    : select_integer_to_float<double>(src_row, m.round);
    }
    return true;
  }
  if (!is_float(src) || src_row * 8 != bits_of(src)) return false;
  if (is_integer(dst)) {
    if (!m.integral) return false;
    s.imm = pack(e);
    s.aux = static_cast<std::uint32_t>(m.round);
    const bool fast =
        src == Type::f32 && dst == Type::s32 && m.round == Round::zero && dst_row == 4;
    s.handlers = fast ? Handlers{&f32_to_s32<false>, &f32_to_s32<true>}
                      : select_float_source(src, m.ftz, dst_row);
    return s.handlers.full != nullptr;
  }
  if (!is_float(dst) || dst_row * 8 != bits_of(dst)) return false;
  s.aux = static_cast<std::uint32_t>(m.round) | (m.integral ? kIntegral : 0) | (m.sat ? kSat : 0) |
          (m.ftz ? kFtz : 0) | (m.relu ? kRelu : 0) | (m.finite ? kFinite : 0);
  s.handlers = select_floats(src, dst, m);
  return s.handlers.full != nullptr;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
