// cvt between floats.
#include "engine/emulator/conversions.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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

}  // namespace

Handlers select_floats(Type src, Type dst, const ConvertModifiers& m) {
  if (src == Type::f32 && dst == Type::f32 && !m.integral && !m.ftz && !m.relu) {
    return m.sat ? chained<&f32_plain<true, false>, &f32_plain<true, true>>()
                 : chained<&f32_plain<false, false>, &f32_plain<false, true>>();
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

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
