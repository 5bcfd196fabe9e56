// Bits: and or xor not cnot lop3, shifts, bit fields, permutation, selection, moves.
#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U16 = unsigned short;
using U32 = unsigned int;
using U64 = unsigned long long;
using S16 = short;
using S32 = int;
using S64 = long long;

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

// --- bit fields ---
template <class T>
struct Bfe {
  static T of(T a, U32 b, U32 c, const Op&) {
    constexpr U32 kTop = 8 * sizeof(T) - 1;
    constexpr bool kSigned = static_cast<T>(-1) < 0;
    using U = Unsigned<T>;
    const U32 pos = b & 0xFFU;
    const U32 len = c & 0xFFU;
    const U v = static_cast<U>(a);
    U sign = 0;
    if (kSigned && len != 0) {
      const U32 at = pos + len - 1 < kTop ? pos + len - 1 : kTop;
      sign = v >> at & 1U;
    }
    U r = 0;
    for (U32 i = 0; i <= kTop; ++i) {
      const U bit = i < len && pos + i <= kTop ? v >> (pos + i) & 1U : sign;
      r |= bit << i;
    }
    return static_cast<T>(r);
  }
};
template <class T>
void bfi(Warp& w, const Op& op) {  // e = width, c = position
  T* const d = lanes_of<T>(w, op.d);
  const T* const a = lanes_of<T>(w, op.a);
  const T* const b = lanes_of<T>(w, op.b);
  const U32* const c = lanes_of<U32>(w, op.c);
  const U32* const e = lanes_of<U32>(w, op.e);
  constexpr U32 kBits = 8 * sizeof(T);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    const U32 pos = c[k] & 0xFFU;
    const U32 len = e[k] & 0xFFU;
    if (pos >= kBits || len == 0) {
      d[k] = b[k];
      continue;
    }
    const U32 n = len < kBits - pos ? len : kBits - pos;
    const T ones = n == kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << n) - 1);
    const T mask = static_cast<T>(ones << pos);
    d[k] = static_cast<T>((b[k] & static_cast<T>(~mask)) | (static_cast<T>(a[k] << pos) & mask));
  }
}

// --- prmt: op.imm is the mode ---
enum class Permute : std::uint8_t { index, f4e, b4e, rc8, ecl, ecr, rc16 };
U32 permute_selector(Permute mode, U32 c) {
  const U32 s = c & 3U;
  switch (mode) {
    case Permute::f4e:
      return 0x3210U + 0x1111U * s;
    case Permute::b4e: {
      U32 r = 0;
      for (U32 i = 0; i < 4; ++i) r |= ((s + 8 - i) & 7U) << (4 * i);
      return r;
    }
    case Permute::rc8:
      return 0x1111U * s;
    case Permute::ecl: {
      U32 r = 0;
      for (U32 i = 0; i < 4; ++i) r |= (i > s ? i : s) << (4 * i);
      return r;
    }
    case Permute::ecr: {
      U32 r = 0;
      for (U32 i = 0; i < 4; ++i) r |= (i < s ? i : s) << (4 * i);
      return r;
    }
    case Permute::rc16:
      return (s & 1U) != 0 ? 0x3232U : 0x1010U;
    case Permute::index:
      break;
  }
  return c;
}
struct Prmt {
  static U32 of(U32 a, U32 b, U32 c, const Op& op) {
    const auto mode = static_cast<Permute>(op.imm);
    const U32 selector = permute_selector(mode, c);
    const U64 bytes = U64{b} << 32 | a;
    U32 r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const U32 s = selector >> (4 * i) & 0xFU;
      U32 byte = static_cast<U32>(bytes >> (8 * (s & 7U))) & 0xFFU;
      if (mode == Permute::index && (s & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0;
      r |= byte << (8 * i);
    }
    return r;
  }
};

// szext / bmsk
template <bool IsSigned, bool Clamp>
struct Szext {
  static U32 of(U32 a, U32 b, const Op&) {
    const U32 n = Clamp ? (b > 32 ? 32 : b) : b & 31U;
    if (n == 0) return 0;
    if (n >= 32) return a;
    if (IsSigned) return static_cast<U32>(static_cast<S32>(a << (32 - n)) >> (32 - n));
    return a & ((1U << n) - 1U);
  }
};
template <bool Clamp>
struct Bmsk {
  static U32 of(U32 a, U32 b, const Op&) {
    const U32 pos = Clamp ? a : a & 31U;
    const U32 len = Clamp ? b : b & 31U;
    if (pos > 31 || len == 0) return 0;
    const U32 ones = len > 31 ? 0xFFFFFFFFU : (1U << len) - 1U;
    return ones << pos;
  }
};

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

template <class F>
Handlers bits2(Type t) {
  switch (bits_of(t)) {
    case 16:
      return make2<U16, F>();
    case 32:
      return make2<U32, F>();
    case 64:
      return make2<U64, F>();
    default:
      return {};
  }
}
template <class F>
Handlers bits1(Type t) {
  switch (bits_of(t)) {
    case 16:
      return make1<U16, F>();
    case 32:
      return make1<U32, F>();
    case 64:
      return make1<U64, F>();
    default:
      return {};
  }
}

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
  s.handlers = base == "and"   ? bits2<And>(t)
               : base == "or"  ? bits2<Or>(t)
               : base == "xor" ? bits2<Xor>(t)
               : base == "not" ? bits1<Not>(t)
                               : bits1<Cnot>(t);
  return true;
}

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
          left ? Handlers{&shift32<U32, Shift::left, false>, &shift32<U32, Shift::left, true>}
          : arithmetic
              ? Handlers{&shift32<S32, Shift::arithmetic, false>,
                         &shift32<S32, Shift::arithmetic, true>}
              : Handlers{&shift32<U32, Shift::logical, false>, &shift32<U32, Shift::logical, true>};
      return true;
    case 64:
      s.handlers =
          left ? Handlers{&shift64<U64, Shift::left, false>, &shift64<U64, Shift::left, true>}
          : arithmetic
              ? Handlers{&shift64<S64, Shift::arithmetic, false>,
                         &shift64<S64, Shift::arithmetic, true>}
              : Handlers{&shift64<U64, Shift::logical, false>, &shift64<U64, Shift::logical, true>};
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

bool field(Form& form, Selection& s) {
  const bool insert = form.base() == "bfi";
  const Type t = form.take_type();
  if (insert) {
    s.operands = {t, t, t, Type::u32, Type::u32};
    s.handlers = both(t == Type::b32 ? &bfi<U32> : &bfi<U64>);
    return t == Type::b32 || t == Type::b64;
  }
  s.operands = {t, t, Type::u32, Type::u32};
  switch (t) {
    case Type::u32:
      s.handlers = both(&each3<U32, U32, U32, U32, Bfe<U32>>);
      return true;
    case Type::s32:
      s.handlers = both(&each3<S32, S32, U32, U32, Bfe<S32>>);
      return true;
    case Type::u64:
      s.handlers = both(&each3<U64, U64, U32, U32, Bfe<U64>>);
      return true;
    case Type::s64:
      s.handlers = both(&each3<S64, S64, U32, U32, Bfe<S64>>);
      return true;
    default:
      return false;
  }
}

bool prmt(Form& form, Selection& s) {
  if (form.take_type() != Type::b32) return false;
  constexpr std::string_view kModes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (unsigned i = 1; i < 7; ++i) {
    if (form.take(kModes[i])) s.imm = i;
  }
  s.operands = {Type::b32, Type::b32, Type::b32, Type::b32};
  s.handlers = both(&each3<U32, U32, U32, U32, Prmt>);
  return true;
}

bool mask(Form& form, Selection& s) {
  const bool clamp = form.take("clamp");
  if (!clamp && !form.take("wrap")) return false;
  const Type t = form.take_type();
  s.operands = {t, t, Type::u32};
  if (form.base() == "bmsk") {
    s.handlers =
        both(clamp ? &each2<U32, U32, U32, Bmsk<true>> : &each2<U32, U32, U32, Bmsk<false>>);
    return t == Type::b32;
  }
  const bool sg = t == Type::s32;
  s.handlers = both(sg ? (clamp ? &each2<U32, U32, U32, Szext<true, true>>
                                : &each2<U32, U32, U32, Szext<true, false>>)
                       : (clamp ? &each2<U32, U32, U32, Szext<false, true>>
                                : &each2<U32, U32, U32, Szext<false, false>>));
  return sg || t == Type::u32;
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
  if (base == "shl" || base == "shr") return shift(form, s);
  if (base == "shf") return funnel(form, s);
  if (base == "bfe" || base == "bfi") return field(form, s);
  if (base == "prmt") return prmt(form, s);
  if (base == "szext" || base == "bmsk") return mask(form, s);
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
      return both(&predicate_op<PredicateOp::copy>);
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
