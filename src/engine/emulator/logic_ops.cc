// Bits: and or xor not cnot lop3, selection, moves; shifts and bit fields from here.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

struct And {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return ~a;
  }
};
struct Cnot {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return reinterpret_cast<Chunk<T>>(a == 0) & static_cast<T>(1);
  }
};
struct Same {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return a;
  }
};

// A predicate is one bit per lane.
enum class PredicateOp { conjunction, disjunction, exclusive, negation, copy };
template <PredicateOp Kind>
void predicate_op(Warp& w, const Op& op) {
  const std::uint32_t a = predicate(w, op.a);
  std::uint32_t r = a;
  if constexpr (Kind == PredicateOp::conjunction) r = a & predicate(w, op.b);
  if constexpr (Kind == PredicateOp::disjunction) r = a | predicate(w, op.b);
  if constexpr (Kind == PredicateOp::exclusive) r = a ^ predicate(w, op.b);
  if constexpr (Kind == PredicateOp::negation) r = ~a;
  std::uint32_t& d = predicate(w, op.d);
  d = (d & ~w.active) | (r & w.active);
}

// --- lop3: op.imm is the truth table ---
template <bool Masked>
void lop3(Warp& w, const Op& op) {
  Chunk<U32>* const d = chunks<U32>(w, op.d);
  const Chunk<U32>* const a = chunks<U32>(w, op.a);
  const Chunk<U32>* const b = chunks<U32>(w, op.b);
  const Chunk<U32>* const c = chunks<U32>(w, op.c);
  const auto table = static_cast<U32>(op.imm);
  for (int q = 0; q < 4; ++q) {
    Chunk<U32> r{};
    for (unsigned i = 0; i < 8; ++i) {
      if ((table >> i & 1U) == 0) continue;
      r |= ((i & 4U) != 0 ? a[q] : ~a[q]) & ((i & 2U) != 0 ? b[q] : ~b[q]) &
           ((i & 1U) != 0 ? c[q] : ~c[q]);
    }
    put<U32, Masked>(d, q, r, w.active);
  }
}

// --- selection ---
template <class T, bool Masked>
void selp(Warp& w, const Op& op) {
  Chunk<T>* const d = chunks<T>(w, op.d);
  const Chunk<T>* const a = chunks<T>(w, op.a);
  const Chunk<T>* const b = chunks<T>(w, op.b);
  const std::uint32_t p = predicate(w, op.c);
#pragma GCC unroll 8
  for (int q = 0; q < kChunks<T>; ++q) {
    put<T, Masked>(d, q, lane_mask<T>(p, q) ? a[q] : b[q], w.active);
  }
}
template <class T>
struct SlctInt {
  static T of(T a, T b, S32 c, const Op&) { return c >= 0 ? a : b; }
};
template <class T>
struct SlctFloat {  // NaN picks b, -0 picks a
  static T of(T a, T b, float c, const Op& op) {
    (void)op;
    return c >= 0 ? a : b;
  }
};

bool boolean(Form& form, Selection& s) {
  const std::string_view base = form.base();
  const Type t = form.take_type();
  s.operands = {t, t};
  const bool two = base != "not" && base != "cnot";
  if (two) s.operands[2] = t;
  if (t == Type::pred) {
    if (base == "cnot") return false;
    s.handlers = both(base == "and"   ? &predicate_op<PredicateOp::conjunction>
                      : base == "or"  ? &predicate_op<PredicateOp::disjunction>
                      : base == "xor" ? &predicate_op<PredicateOp::exclusive>
                                      : &predicate_op<PredicateOp::negation>);
    return true;
  }
  if (!is_bits(t) || bits_of(t) < 16 || bits_of(t) > 64) return false;
  s.handlers = base == "and"   ? wrap2<And>(t)
               : base == "or"  ? wrap2<Or>(t)
               : base == "xor" ? wrap2<Xor>(t)
               : base == "not" ? wrap1<Not>(t)
                               : wrap1<Cnot>(t);
  return true;
}

bool select_one(Form& form, Selection& s) {
  if (form.base() == "selp") {
    const Type t = form.take_type();
    s.operands = {t, t, t, Type::pred};
    switch (t == Type::pred ? 0 : bits_of(t)) {
      case 16:
        s.handlers = {&selp<U16, false>, &selp<U16, true>};
        return true;
      case 32:
        s.handlers = {&selp<U32, false>, &selp<U32, true>};
        return true;
      case 64:
        s.handlers = {&selp<U64, false>, &selp<U64, true>};
        return true;
      default:
        return false;
    }
  }
  form.take("ftz");  // -0 and flushed -0 choose alike
  const Type t = form.take_type();
  const Type c = form.take_type();
  if (c != Type::s32 && c != Type::f32) return false;
  s.operands = {t, t, t, c};
  const bool f = c == Type::f32;
  switch (bits_of(t)) {
    case 16:
      s.handlers = both(f ? &each3<U16, U16, U16, float, SlctFloat<U16>>
                          : &each3<U16, U16, U16, S32, SlctInt<U16>>);
      return true;
    case 32:
      s.handlers = both(f ? &each3<U32, U32, U32, float, SlctFloat<U32>>
                          : &each3<U32, U32, U32, S32, SlctInt<U32>>);
      return true;
    case 64:
      s.handlers = both(f ? &each3<U64, U64, U64, float, SlctFloat<U64>>
                          : &each3<U64, U64, U64, S32, SlctInt<U64>>);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool select_logic(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base == "and" || base == "or" || base == "xor" || base == "not" || base == "cnot") {
    return boolean(form, s);
  }
  if (base == "shl" || base == "shr" || base == "shf") return select_shift(form, s);
  if (base == "bfe" || base == "bfi" || base == "prmt" || base == "szext" || base == "bmsk") {
    return select_bit_field(form, s);
  }
  if (base == "selp" || base == "slct") return select_one(form, s);
  if (base != "lop3" || form.take_type() != Type::b32) return false;
  s.operands = {Type::b32, Type::b32, Type::b32, Type::b32};
  s.ends_with_immediate = true;
  s.handlers = {&lop3<false>, &lop3<true>};
  return true;
}

Handlers select_move(unsigned row_bytes) {
  switch (row_bytes) {
    case 0:
      return chained<&predicate_op<PredicateOp::copy>, &predicate_op<PredicateOp::copy>>();
    case 2:
      return make1<U16, Same>();
    case 4:
      return make1<U32, Same>();
    case 8:
      return make1<U64, Same>();
    default:
      return {};
  }
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
