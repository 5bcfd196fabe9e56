// setp and set: every comparison of every type, combined with a predicate.
#include "engine/emulator/small_float.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U16 = unsigned short;
using U32 = unsigned int;
using U64 = unsigned long long;

#define ASSAY_COMPARISON(Name, expression)  \
  struct Name {                             \
    template <class V>                      \
    ASSAY_INLINE static auto of(V a, V b) { \
      return expression;                    \
    }                                       \
  };
ASSAY_COMPARISON(Eq, a == b)
ASSAY_COMPARISON(Ne, (a < b) | (a > b))
ASSAY_COMPARISON(Lt, a < b)
ASSAY_COMPARISON(Le, a <= b)
ASSAY_COMPARISON(Gt, a > b)
ASSAY_COMPARISON(Ge, a >= b)
ASSAY_COMPARISON(Num, (a == a) & (b == b))
#undef ASSAY_COMPARISON

// One bit per lane.
using BitsFn = std::uint32_t (*)(Warp&, const Op&);

template <class T, class F, bool Ftz, bool Invert>
ASSAY_INLINE std::uint32_t bits_inline(Warp& w, const Op& op) {
  const Chunk<T>* const a = chunks<T>(w, op.a);
  const Chunk<T>* const b = chunks<T>(w, op.b);
  std::uint32_t r = 0;
#pragma GCC unroll 8
  for (int q = 0; q < kChunks<T>; ++q) {
    Chunk<T> x = a[q];
    Chunk<T> y = b[q];
    if constexpr (Ftz) {
      x = flush(x);
      y = flush(y);
    }
    const auto c = reinterpret_cast<Chunk<Signed<T>>>(F::of(x, y));
    r |= to_bits<T>(c) << (static_cast<unsigned>(q * kLanes<T>) & 31U);
  }
  return Invert ? ~r : r;
}
template <class T, class F, bool Ftz, bool Invert>
std::uint32_t bits(Warp& w, const Op& op) {
  return bits_inline<T, F, Ftz, Invert>(w, op);
}

// 16-bit floats: half 0 of each lane, or half 1 of a packed pair.
template <class Fmt, class F, bool Packed, bool Invert, unsigned Half>
std::uint32_t small_bits(Warp& w, const Op& op) {
  const U16* const a = lanes_of<U16>(w, op.a);
  const U16* const b = lanes_of<U16>(w, op.b);
  std::uint32_t r = 0;
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned at = Packed ? 2 * k + Half : k;
    const bool yes = F::of(Fmt::widen(a[at]), Fmt::widen(b[at]));
    r |= static_cast<std::uint32_t>(yes) << k;
  }
  return Invert ? ~r : r;
}

ASSAY_INLINE void assign(Warp& w, std::uint32_t offset, std::uint32_t value) {
  std::uint32_t& p = predicate(w, offset);
  p = (p & ~w.active) | (value & w.active);
}

// op.aux: 0xF the boolean operator (0 none, 1 and, 2 or, 3 xor), 0x100 its operand negated
ASSAY_INLINE std::uint32_t combine(Warp& w, const Op& op, std::uint32_t r) {
  if ((op.aux & 0xFU) == 0) return r;
  std::uint32_t c = predicate(w, op.c);
  if ((op.aux & 0x100U) != 0) c = ~c;
  return (op.aux & 0xFU) == 1 ? r & c : (op.aux & 0xFU) == 2 ? r | c : r ^ c;
}

template <BitsFn Bits>
void setp(Warp& w, const Op& op) {
  const std::uint32_t r = Bits(w, op);
  const std::uint32_t p = combine(w, op, r);
  if (op.e != kNowhere) assign(w, op.e, combine(w, op, ~r));
  assign(w, op.d, p);
}

// setp.f16x2: p from the low halves, q from the high ones.
template <BitsFn Low, BitsFn High>
void setp_pair(Warp& w, const Op& op) {
  const std::uint32_t low = combine(w, op, Low(w, op));
  const std::uint32_t high = combine(w, op, High(w, op));
  if (op.e != kNowhere) assign(w, op.e, high);
  assign(w, op.d, low);
}

// op.imm: the pattern of "true"
template <BitsFn Bits, class D>
void set(Warp& w, const Op& op) {
  const std::uint32_t r = combine(w, op, Bits(w, op));
  D* const d = lanes_of<D>(w, op.d);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[k] = (r >> k & 1U) != 0 ? static_cast<D>(op.imm) : D{0};
  }
}
template <BitsFn Low, BitsFn High>
void set_pair(Warp& w, const Op& op) {
  const std::uint32_t low = combine(w, op, Low(w, op));
  const std::uint32_t high = combine(w, op, High(w, op));
  U16* const d = lanes_of<U16>(w, op.d);
  const auto yes = static_cast<U16>(op.imm);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    d[2 * k] = (low >> k & 1U) != 0 ? yes : U16{0};
    d[2 * k + 1] = (high >> k & 1U) != 0 ? yes : U16{0};
  }
}

enum class Comparison { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan, none };
constexpr std::string_view kComparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                             "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

struct Target {
  bool is_set = false;
  Type type = Type::pred;
};

template <BitsFn Bits>
Handlers finish(const Target& t) {
  if (!t.is_set) return chained<&setp<Bits>, &setp<Bits>>();
  return bits_of(t.type) == 16 ? both(&set<Bits, U16>) : both(&set<Bits, U32>);
}

template <class T>
Handlers on_integer(Comparison c, const Target& t) {
  switch (c) {
    case Comparison::eq:
      return finish<&bits<T, Eq, false, false>>(t);
    case Comparison::ne:
      return finish<&bits<T, Eq, false, true>>(t);
    case Comparison::lt:
      return finish<&bits<T, Lt, false, false>>(t);
    case Comparison::le:
      return finish<&bits<T, Le, false, false>>(t);
    case Comparison::gt:
      return finish<&bits<T, Gt, false, false>>(t);
    case Comparison::ge:
      return finish<&bits<T, Ge, false, false>>(t);
    default:
      return {};
  }
}

// Unordered comparisons are the opposites of ordered ones. Pick<F, Invert> is the bits function.
template <class Pick>
Handlers on_float(Comparison c, const Target& t) {
  switch (c) {
    case Comparison::eq:
      return Pick::template with<Eq, false>(t);
    case Comparison::ne:
      return Pick::template with<Ne, false>(t);
    case Comparison::lt:
      return Pick::template with<Lt, false>(t);
    case Comparison::le:
      return Pick::template with<Le, false>(t);
    case Comparison::gt:
      return Pick::template with<Gt, false>(t);
    case Comparison::ge:
      return Pick::template with<Ge, false>(t);
    case Comparison::equ:
      return Pick::template with<Ne, true>(t);
    case Comparison::neu:
      return Pick::template with<Eq, true>(t);
    case Comparison::ltu:
      return Pick::template with<Ge, true>(t);
    case Comparison::leu:
      return Pick::template with<Gt, true>(t);
    case Comparison::gtu:
      return Pick::template with<Le, true>(t);
    case Comparison::geu:
      return Pick::template with<Lt, true>(t);
    case Comparison::num:
      return Pick::template with<Num, false>(t);
    case Comparison::nan:
      return Pick::template with<Num, true>(t);
    case Comparison::none:
      break;
  }
  return {};
}

template <class T, bool Ftz>
struct PickVector {
  template <class F, bool Invert>
  static Handlers with(const Target& t) {
    return finish<&bits<T, F, Ftz, Invert>>(t);
  }
};
template <class Fmt>
struct PickSmall {
  template <class F, bool Invert>
  static Handlers with(const Target& t) {
    return finish<&small_bits<Fmt, F, false, Invert, 0>>(t);
  }
};
template <class Fmt>
struct PickPair {
  template <class F, bool Invert>
  static Handlers with(const Target& t) {
    constexpr BitsFn kLow = &small_bits<Fmt, F, true, Invert, 0>;
    constexpr BitsFn kHigh = &small_bits<Fmt, F, true, Invert, 1>;
    return t.is_set ? both(&set_pair<kLow, kHigh>) : both(&setp_pair<kLow, kHigh>);
  }
};

Handlers by_type(Comparison c, Type type, bool ftz, const Target& t) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return on_integer<U16>(c, t);
    case Type::b32:
    case Type::u32:
      return on_integer<U32>(c, t);
    case Type::b64:
    case Type::u64:
      return on_integer<U64>(c, t);
    case Type::s16:
      return on_integer<short>(c, t);
    case Type::s32:
      return on_integer<int>(c, t);
    case Type::s64:
      return on_integer<long long>(c, t);
    case Type::f32:
      return ftz ? on_float<PickVector<float, true>>(c, t)
                 : on_float<PickVector<float, false>>(c, t);
    case Type::f64:
      return on_float<PickVector<double, false>>(c, t);
    case Type::f16:
      return on_float<PickSmall<F16>>(c, t);
    case Type::bf16:
      return on_float<PickSmall<BF16>>(c, t);
    case Type::f16x2:
      return on_float<PickPair<F16>>(c, t);
    case Type::bf16x2:
      return on_float<PickPair<BF16>>(c, t);
    default:
      return {};
  }
}

// lo ls hi hs are the unsigned orders by another name.
Comparison take_comparison(Form& form) {
  for (unsigned i = 0; i < 14; ++i) {
    if (form.take(kComparisons[i])) return static_cast<Comparison>(i);
  }
  if (form.take("lo")) return Comparison::lt;
  if (form.take("ls")) return Comparison::le;
  if (form.take("hi")) return Comparison::gt;
  if (form.take("hs")) return Comparison::ge;
  return Comparison::none;
}

bool true_pattern(Type type, Type compared, std::int64_t& out) {
  switch (type) {
    case Type::u32:
    case Type::s32:
      out = bits_of(compared) == 32 && !is_float(compared) && !is_integer(compared) &&
                    !is_bits(compared)
                ? 0xFFFF
                : 0xFFFFFFFF;
      return true;
    case Type::u16:
    case Type::s16:
      out = 0xFFFF;
      return true;
    case Type::f32:
      out = 0x3F800000;
      return true;
    case Type::f16:
    case Type::f16x2:
      out = 0x3C00;
      return true;
    case Type::bf16:
    case Type::bf16x2:
      out = 0x3F80;
      return true;
    default:
      return false;
  }
}

}  // namespace

bool select_compare(Form& form, Selection& s) {
  const Comparison c = take_comparison(form);
  if (c == Comparison::none) return false;
  if (form.take("and"))
    s.aux = 1;
  else if (form.take("or"))
    s.aux = 2;
  else if (form.take("xor"))
    s.aux = 3;
  const bool ftz = form.take("ftz");
  Target t{.is_set = form.base() == "set"};
  if (t.is_set) t.type = form.take_type();
  const Type compared = form.take_type();
  if (t.is_set && !true_pattern(t.type, compared, s.imm)) return false;
  s.handlers = by_type(c, compared, ftz, t);
  s.operands = {t.type, compared, compared, s.aux != 0 ? Type::pred : Type::none};
  return s.handlers.full != nullptr;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
