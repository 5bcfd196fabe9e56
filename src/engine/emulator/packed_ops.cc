#include "engine/emulator/packed_ops.h"

#include <algorithm>
#include <bit>

#include "engine/emulator/float_formats.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

template <class T>
T* row(Warp& w, U32 offset) {
  return reinterpret_cast<T*>(w.rows + offset);
}

// D, A, B, C: lane types; F(a, b, c, op) -> D.
template <class D, class A, class B, class C, auto F>
void lanewise(Warp& w, const Op& op) {
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const B b = op.b == kNowhere ? B{} : row<B>(w, op.b)[k];
    const C c = op.c == kNowhere ? C{} : row<C>(w, op.c)[k];
    row<D>(w, op.d)[k] = static_cast<D>(F(row<A>(w, op.a)[k], b, c, op));
  }
}
template <auto F>
Handlers words() {
  return {&lanewise<U32, U32, U32, U32, F>, &lanewise<U32, U32, U32, U32, F>};
}

std::int64_t part(U32 v, unsigned i, unsigned bits, bool is_signed) {
  const U32 raw = v >> (i * bits) & ((1U << bits) - 1);
  const auto top = std::int64_t{1} << (bits - 1);
  return is_signed && (raw & static_cast<U32>(top)) != 0 ? static_cast<std::int64_t>(raw) - 2 * top
                                                         : static_cast<std::int64_t>(raw);
}

// --- min and max of pairs, and with a floor of zero: op.aux 1 max, 2 relu, 4 signed, 8 pairs ---
U32 extreme(U32 a, U32 b, U32, const Op& op) {
  const unsigned bits = (op.aux & 8U) != 0 ? 16 : 32;
  const bool is_signed = (op.aux & 4U) != 0;
  U32 packed = 0;
  for (unsigned i = 0; i < 32 / bits; ++i) {
    const auto read = [&](U32 v) -> std::int64_t {
      if (bits == 16) return part(v, i, 16, is_signed);
      return is_signed ? static_cast<std::int64_t>(static_cast<std::int32_t>(v))
                       : static_cast<std::int64_t>(v);
    };
    const std::int64_t x = read(a);
    const std::int64_t y = read(b);
    std::int64_t v = (op.aux & 1U) != 0 ? std::max(x, y) : std::min(x, y);
    if ((op.aux & 2U) != 0) v = std::max<std::int64_t>(v, 0);
    packed |= bits == 16 ? (static_cast<U32>(v) & 0xFFFFU) << (16 * i) : static_cast<U32>(v);
  }
  return packed;
}

bool select_extreme(Form& form, Selection& s, bool is_max) {
  const bool relu = form.take("relu");
  const Type t = form.take_type();
  const bool pairs = t == Type::s16x2 || t == Type::u16x2;
  if (!pairs && !(relu && t == Type::s32)) return false;
  if (relu && t == Type::u16x2) return false;
  s.aux = (is_max ? 1U : 0U) | (relu ? 2U : 0U) | (t != Type::u16x2 ? 4U : 0U) | (pairs ? 8U : 0U);
  s.operands = {t, t, t};
  s.handlers = words<&extreme>();
  return true;
}

// fns.b32 d, mask, base, offset: the position of the offset-th set bit from base on.
U32 find_nth(U32 mask, U32 base, U32 offset, const Op&) {
  const auto wanted = static_cast<std::int32_t>(offset);
  const auto start = static_cast<int>(base);
  if (start < 0 || start > 31) return ~0U;
  if (wanted == 0) return (mask >> start & 1U) != 0 ? static_cast<U32>(start) : ~0U;
  int left = wanted < 0 ? -wanted : wanted;
  for (int i = start; i >= 0 && i < 32; i += wanted < 0 ? -1 : 1) {
    if ((mask >> i & 1U) != 0 && --left == 0) return static_cast<U32>(i);
  }
  return ~0U;
}

// --- conversions ---
struct SmallFloat {
  std::string_view pair{};
  const FloatFormat* format = nullptr;
};
constexpr SmallFloat kSmallFloats[] = {{"e4m3x2", &kE4m3}, {"e5m2x2", &kE5m2}};

const FloatFormat& small_format(const Op& op) { return *kSmallFloats[op.aux & 1U].format; }

// op.aux: 1 which format, 2 relu. NaN stays NaN under relu.
double floor_at_zero(double v, const Op& op) { return (op.aux & 2U) != 0 && v < 0 ? 0.0 : v; }

U16 small_from_floats(float a, float b, U32, const Op& op) {
  const FloatFormat& f = small_format(op);
  const U32 high = encode_float(f, floor_at_zero(a, op), true);
  return static_cast<U16>(high << 8 | encode_float(f, floor_at_zero(b, op), true));
}
U16 small_from_halves(U32 a, U32, U32, const Op& op) {
  const FloatFormat& f = small_format(op);
  const U32 high = encode_float(f, floor_at_zero(decode_float(kHalf, a >> 16), op), true);
  return static_cast<U16>(
      high << 8 | encode_float(f, floor_at_zero(decode_float(kHalf, a & 0xFFFFU), op), true));
}
U32 halves_from_small(U16 a, U32, U32, const Op& op) {
  const FloatFormat& f = small_format(op);
  const auto one = [&](U32 bits) {
    return encode_float(kHalf, floor_at_zero(decode_float(f, bits), op), false);
  };
  return one(a >> 8) << 16 | one(a & 0xFFU);
}

// op.aux: 3 rounding, 4 saturate, 8 relu
U32 tf32_from_float(U32 a, U32, U32, const Op& op) {
  const U32 r = round_to_tf32(a, static_cast<TensorRounding>(op.aux & 3U), (op.aux & 4U) != 0);
  const bool negative = (r & 0x8000'0000U) != 0;
  return (op.aux & 8U) != 0 && negative ? 0 : r;
}

bool select_tf32(Form& form, Selection& s) {
  if (form.take("rna")) {
    s.aux = static_cast<U32>(TensorRounding::nearest_away);
  } else if (form.take("rz")) {
    s.aux = static_cast<U32>(TensorRounding::toward_zero);
  } else if (!form.take("rn")) {
    return false;
  }
  if (form.take("satfinite")) s.aux |= 4;
  if (form.take("relu")) s.aux |= 8;
  if (form.take_type() != Type::tf32 || form.take_type() != Type::f32) return false;
  s.operands = {Type::b32, Type::f32};
  s.handlers = words<&tf32_from_float>();
  return true;
}

bool select_small_float(Form& form, Selection& s) {
  form.take("rn");
  const bool finite = form.take("satfinite");
  if (form.take("relu")) s.aux |= 2;
  const std::string_view to = form.take_next();
  const std::string_view from = form.take_next();
  for (U32 i = 0; i < std::size(kSmallFloats); ++i) {
    const std::string_view name = kSmallFloats[i].pair;
    if (to != name && from != name) continue;
    s.aux |= i;
    if (to == name && finite && from == "f32") {
      s.operands = {Type::b16, Type::f32, Type::f32};
      constexpr Handler kConvert = &lanewise<U16, float, float, U32, &small_from_floats>;
      s.handlers = {kConvert, kConvert};
      return true;
    }
    if (to == name && finite && from == "f16x2") {
      s.operands = {Type::b16, Type::b32};
      constexpr Handler kConvert = &lanewise<U16, U32, U32, U32, &small_from_halves>;
      s.handlers = {kConvert, kConvert};
      return true;
    }
    if (from == name && to == "f16x2") {
      s.operands = {Type::b32, Type::b16};
      constexpr Handler kConvert = &lanewise<U32, U16, U32, U32, &halves_from_small>;
      s.handlers = {kConvert, kConvert};
      return true;
    }
  }
  return false;
}

// cvt.pack.sat.u8.s32.b32 d, a, b, c: a and b, clamped, above the low bits of c. op.imm bits of an
// element, 0x100 signed; op.aux 1: the source is unsigned.
U32 pack_clamped(U32 a, U32 b, U32 c, const Op& op) {
  const auto bits = static_cast<unsigned>(op.imm & 0xFF);
  const bool to_signed = (op.imm & 0x100) != 0;
  const std::int64_t low = to_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  const std::int64_t high = low + (std::int64_t{1} << bits) - 1;
  const auto one = [&](U32 v) {
    const auto wide = op.aux != 0 ? static_cast<std::int64_t>(v)
                                  : static_cast<std::int64_t>(static_cast<std::int32_t>(v));
    return static_cast<U32>(std::clamp(wide, low, high)) & ((1U << bits) - 1);
  };
  const U32 pair = one(a) << bits | one(b);
  return bits == 16 ? pair : c << (2 * bits) | pair;
}

bool select_pack(Form& form, Selection& s) {
  if (!form.take("pack") || !form.take("sat")) return false;
  struct Target {
    std::string_view text{};
    int imm = 0;
    bool accumulates = false;
  };
  constexpr Target kTargets[] = {
      {"u16", 16, false}, {"s16", 16 | 0x100, false}, {"u8", 8, true}, {"s8", 8 | 0x100, true},
      {"u4", 4, true},    {"s4", 4 | 0x100, true},    {"u2", 2, true}, {"s2", 2 | 0x100, true}};
  const std::string_view to = form.take_next();
  const Type from = form.take_type();
  if (from != Type::s32 && from != Type::u32) return false;
  s.aux = from == Type::u32 ? 1 : 0;
  for (const Target& t : kTargets) {
    if (t.text != to) continue;
    s.imm = t.imm;
    s.operands = {Type::b32, Type::b32, Type::b32};
    if (t.accumulates) s.operands[3] = form.take_type();
    s.handlers = words<&pack_clamped>();
    return !t.accumulates || s.operands[3] == Type::b32;
  }
  return false;
}

template <class... Select>
bool first_of(Form& form, Selection& s, Select... select) {
  const auto attempt = [&](auto one) {
    Form f = form;
    Selection found;
    if (!one(f, found) || !f.exhausted()) return false;
    form = f;
    s = found;
    return true;
  };
  return (attempt(select) || ...);
}

}  // namespace

bool select_packed(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base == "min" || base == "max") {
    return first_of(form, s,
                    [&](Form& f, Selection& r) { return select_extreme(f, r, base == "max"); });
  }
  if (base == "fns") {
    if (form.take_type() != Type::b32) return false;
    s.operands = {Type::b32, Type::b32, Type::b32, Type::s32};
    s.handlers = words<&find_nth>();
    return true;
  }
  return false;
}

bool select_packed_convert(Form& form, Selection& s) {
  return first_of(form, s, &select_tf32, &select_small_float, &select_pack);
}

void op_lop3_predicate(Warp& w, const Op& op) {
  const U32 q = predicate(w, op.target);
  U32 holds = 0;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const U32 a = row<U32>(w, op.a)[k];
    const U32 b = row<U32>(w, op.b)[k];
    const U32 c = row<U32>(w, op.c)[k];
    U32 r = 0;
    for (U32 i = 0; i < 8; ++i) {
      if ((op.imm >> i & 1) == 0) continue;
      r |= ((i & 4U) != 0 ? a : ~a) & ((i & 2U) != 0 ? b : ~b) & ((i & 1U) != 0 ? c : ~c);
    }
    if (op.d != kNowhere) row<U32>(w, op.d)[k] = r;
    const bool given = (q >> k & 1U) != 0;
    const bool result = op.aux != 0 ? r != 0 && given : r != 0 || given;
    holds |= static_cast<U32>(result) << k;
  }
  U32& p = predicate(w, op.e);
  p = (p & ~w.active) | holds;
}

}  // namespace assay::emulator
