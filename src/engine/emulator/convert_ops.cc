// cvt: between integers, and between them and floats. A register may be wider than the value in it.
#include "engine/emulator/conversions.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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

// What no number becomes: nothing, or the top bit alone as soon as one side has 64 bits.
ASSAY_INLINE U64 nan_as_integer(const Ends& e) {
  if (e.src_bits != 64 && e.dst_bits != 64) return 0;
  return e.dst_signed ? ~U64{0} << (e.dst_bits - 1) : U64{1} << (e.dst_bits - 1);
}

ASSAY_INLINE U64 to_integer(double v, const Ends& e, Round r) {
  if (v != v) return nan_as_integer(e);
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

// cvt.sat: what is left of whole numbers between 0 and 1, rounded in whatever way.
template <class SrcRow, class D, D One>
void integer_to_unit(Warp& w, const Op& op) {
  const SrcRow* const a = lanes_of<SrcRow>(w, op.a);
  D* const d = lanes_of<D>(w, op.d);
  const Ends e = unpack(op.imm);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    const U64 v = extend(a[k], e.src_bits, e.src_signed);
    const bool above = e.src_signed ? static_cast<S64>(v) > 0 : v != 0;
    d[k] = above ? One : D{0};
  }
}
template <class D, D One>
Handlers select_integer_to_unit(unsigned src_row) {
  return both(src_row == 2   ? &integer_to_unit<U16, D, One>
              : src_row == 4 ? &integer_to_unit<U32, D, One>
                             : &integer_to_unit<U64, D, One>);
}

Handlers select_integers(const Ends& e, unsigned src, unsigned dst) {
  const bool whole = e.src_bits == 8 * src && e.dst_bits == 8 * dst && !e.saturate;
  if (whole && src == 4 && dst == 8) {
    return e.src_signed ? chained<&widen64<int, S64, false>, &widen64<int, S64, true>>()
                        : chained<&widen64<U32, U64, false>, &widen64<U32, U64, true>>();
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
  const ConvertModifiers m = take_modifiers(form);
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
    if (m.integral || dst_row * 8 != bits_of(dst)) return false;
    s.imm = pack(e);
    if (m.sat) {
      s.handlers = dst == Type::f16   ? select_integer_to_unit<U16, 0x3C00>(src_row)
                   : dst == Type::f32 ? select_integer_to_unit<U32, 0x3F80'0000>(src_row)
                   : dst == Type::f64 ? select_integer_to_unit<U64, 0x3FF0'0000'0000'0000>(src_row)
                                      : Handlers{};
      return s.handlers.full != nullptr;
    }
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
    s.handlers = fast ? chained<&f32_to_s32<false>, &f32_to_s32<true>>()
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
