// Integer products: mul mad mul24 mad24 in their low, high and wide forms, dp4a, dp2a.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

struct Mul {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return signed_again<T>(bits(a) * bits(b));
  }
};
struct Mad {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b, Chunk<T> c) {
    return signed_again<T>(bits(a) * bits(b) + bits(c));
  }
};

template <class T>
struct MadHi {
  static T of(T a, T b, T c, const Op& op) {
    return static_cast<T>(static_cast<Unsigned<T>>(MulHi<T>::of(a, b, op)) +
                          static_cast<Unsigned<T>>(c));
  }
};
template <class T>
struct MulWide {
  static Wide<T> of(T a, T b, const Op&) {
    return static_cast<Wide<T>>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
template <class T>
struct MadWide {
  using W = Wide<T>;
  static W of(T a, T b, W c, const Op&) {
    return static_cast<W>(static_cast<Unsigned<W>>(static_cast<W>(a) * static_cast<W>(b)) +
                          static_cast<Unsigned<W>>(c));
  }
};

// 24-bit operands: the low 24 bits, with sign for s32.
template <class T>
ASSAY_INLINE S64 low24(T v) {
  if (static_cast<T>(-1) < 0) return static_cast<S64>(static_cast<U64>(v) << 40) >> 40;
  return static_cast<S64>(static_cast<U32>(v) & 0xFFFFFFU);
}
template <class T, bool Hi>
struct Mul24 {
  static T of(T a, T b, const Op&) {
    const S64 p = low24(a) * low24(b);
    return static_cast<T>(Hi ? p >> 16 : p);
  }
};
template <class T, bool Hi>
struct Mad24 {
  static T of(T a, T b, T c, const Op& op) {
    return static_cast<T>(static_cast<U32>(Mul24<T, Hi>::of(a, b, op)) + static_cast<U32>(c));
  }
};

struct MadHiSat {
  static S32 of(S32 a, S32 b, S32 c, const Op&) { return clamp32(((S64{a} * b) >> 32) + c); }
};

// --- 32 x 32 -> 64 in vectors ---
template <class T, bool Masked>
void mul_wide32(Warp& w, const Op& op) {
  using W = Wide<T>;
  typedef T Half __attribute__((vector_size(16), may_alias));
  Chunk<W>* const d = chunks<W>(w, op.d);
  const auto* const a = reinterpret_cast<const Half*>(w.rows + op.a);
  const auto* const b = reinterpret_cast<const Half*>(w.rows + op.b);
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) {
    const Chunk<W> x = __builtin_convertvector(a[q], Chunk<W>);
    const Chunk<W> y = __builtin_convertvector(b[q], Chunk<W>);
#ifdef __AVX2__
    const __m256i wide_x = reinterpret_cast<__m256i>(x);
    const __m256i wide_y = reinterpret_cast<__m256i>(y);
    const __m256i p = static_cast<T>(-1) < 0 ? _mm256_mul_epi32(wide_x, wide_y)
                                             : _mm256_mul_epu32(wide_x, wide_y);
    put<W, Masked>(d, q, reinterpret_cast<Chunk<W>>(p), w.active);
#else
    put<W, Masked>(d, q, x * y, w.active);
#endif
  }
}

#ifdef __AVX2__
template <class T>
struct MulHi32 {
  template <class V>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    const __m256i x = reinterpret_cast<__m256i>(a);
    const __m256i y = reinterpret_cast<__m256i>(b);
    const __m256i x1 = _mm256_srli_epi64(x, 32);
    const __m256i y1 = _mm256_srli_epi64(y, 32);
    const bool is_signed_type = static_cast<T>(-1) < 0;
    const __m256i even = is_signed_type ? _mm256_mul_epi32(x, y) : _mm256_mul_epu32(x, y);
    const __m256i odd = is_signed_type ? _mm256_mul_epi32(x1, y1) : _mm256_mul_epu32(x1, y1);
    return reinterpret_cast<Chunk<T>>(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA));
  }
};
#endif

struct Byte4 {
  template <class T>
  ASSAY_INLINE static S32 at(T v, int i, bool is_signed_type) {
    const U32 b = static_cast<U32>(v) >> (8 * i) & 0xFFU;
    return is_signed_type ? static_cast<signed char>(b) : static_cast<S32>(b);
  }
};
// op.imm: bit 0 a signed, bit 1 b signed, bit 2 high half (dp2a)
struct Dp4a {
  static U32 of(U32 a, U32 b, U32 c, const Op& op) {
    for (int i = 0; i < 4; ++i) {
      c +=
          static_cast<U32>(Byte4::at(a, i, (op.imm & 1) != 0) * Byte4::at(b, i, (op.imm & 2) != 0));
    }
    return c;
  }
};
struct Dp2a {
  static U32 of(U32 a, U32 b, U32 c, const Op& op) {
    for (int i = 0; i < 2; ++i) {
      const U32 half = a >> (16 * i) & 0xFFFFU;
      const S32 x = (op.imm & 1) != 0 ? static_cast<S16>(half) : static_cast<S32>(half);
      const int byte = i + ((op.imm & 4) != 0 ? 2 : 0);
      c += static_cast<U32>(x) * static_cast<U32>(Byte4::at(b, byte, (op.imm & 2) != 0));
    }
    return c;
  }
};

Type wide_type(Type t) {
  switch (t) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return Type::none;
  }
}

bool mul(Form& form, Selection& s) {
  Form f = form;
  const bool lo = f.take("lo");
  const bool hi = !lo && f.take("hi");
  const bool wide = !lo && !hi && f.take("wide");
  if (!lo && !hi && !wide) return false;
  const Type t = f.take_type();
  if (!is_integer(t) || bits_of(t) < 16) return false;
  form = f;
  if (lo) return finish2(s, wrap2<Mul>(t), t);
  if (hi) {
#ifdef __AVX2__
    if (t == Type::u32) return finish2(s, make2<U32, MulHi32<U32>>(), t);
    if (t == Type::s32) return finish2(s, make2<S32, MulHi32<S32>>(), t);
#endif
    return finish2(s, each2_typed<MulHi>(t), t);
  }
  s.operands = {wide_type(t), t, t};
  switch (t) {
    case Type::u16:
      s.handlers = both(&each2<U32, U16, U16, MulWide<U16>>);
      break;
    case Type::s16:
      s.handlers = both(&each2<S32, S16, S16, MulWide<S16>>);
      break;
    case Type::u32:
      s.handlers = chained<&mul_wide32<U32, false>, &mul_wide32<U32, true>>();
      break;
    case Type::s32:
      s.handlers = chained<&mul_wide32<S32, false>, &mul_wide32<S32, true>>();
      break;
    default:
      return false;
  }
  return true;
}

bool mad(Form& form, Selection& s) {
  Form f = form;
  const bool lo = f.take("lo");
  const bool hi = !lo && f.take("hi");
  const bool wide = !lo && !hi && f.take("wide");
  if (!lo && !hi && !wide) return false;
  const bool sat = f.take("sat");
  const Type t = f.take_type();
  if (!is_integer(t) || bits_of(t) < 16) return false;
  form = f;
  if (sat) {
    if (!hi || t != Type::s32) return false;
    return finish3(s, both(&each3<S32, S32, S32, S32, MadHiSat>), t);
  }
  if (hi) return finish3(s, each3_typed<MadHi>(t), t);
  if (lo) {
    const Handlers h = bits_of(t) == 16   ? make3<U16, Mad>()
                       : bits_of(t) == 32 ? make3<U32, Mad>()
                                          : make3<U64, Mad>();
    return finish3(s, h, t);
  }
  s.operands = {wide_type(t), t, t, wide_type(t)};
  switch (t) {
    case Type::u16:
      s.handlers = both(&each3<U32, U16, U16, U32, MadWide<U16>>);
      break;
    case Type::s16:
      s.handlers = both(&each3<S32, S16, S16, S32, MadWide<S16>>);
      break;
    case Type::u32:
      s.handlers = both(&each3<U64, U32, U32, U64, MadWide<U32>>);
      break;
    case Type::s32:
      s.handlers = both(&each3<S64, S32, S32, S64, MadWide<S32>>);
      break;
    default:
      return false;
  }
  return true;
}

struct Mad24HiSat {
  static S32 of(S32 a, S32 b, S32 c, const Op&) { return clamp32((low24(a) * low24(b) >> 16) + c); }
};

bool mul24(Form& form, Selection& s, bool adds) {
  const bool hi = form.take("hi");
  if (!hi && !form.take("lo")) return false;
  const bool sat = adds && hi && form.take("sat");
  const Type t = form.take_type();
  if (t != Type::u32 && t != Type::s32) return false;
  if (sat) {
    return t == Type::s32 && finish3(s, both(&each3<S32, S32, S32, S32, Mad24HiSat>), t);
  }
  const bool sg = t == Type::s32;
  if (adds) {
    const Handler h = sg ? (hi ? &each3<S32, S32, S32, S32, Mad24<S32, true>>
                               : &each3<S32, S32, S32, S32, Mad24<S32, false>>)
                         : (hi ? &each3<U32, U32, U32, U32, Mad24<U32, true>>
                               : &each3<U32, U32, U32, U32, Mad24<U32, false>>);
    return finish3(s, both(h), t);
  }
  const Handler h =
      sg ? (hi ? &each2<S32, S32, S32, Mul24<S32, true>> : &each2<S32, S32, S32, Mul24<S32, false>>)
         : (hi ? &each2<U32, U32, U32, Mul24<U32, true>>
               : &each2<U32, U32, U32, Mul24<U32, false>>);
  return finish2(s, both(h), t);
}

bool dot_product(Form& form, Selection& s) {
  const bool four = form.base() == "dp4a";
  if (!four) {
    if (form.take("hi"))
      s.imm |= 4;
    else if (!form.take("lo"))
      return false;
  }
  const Type a = form.take_type();
  const Type b = form.take_type();
  if ((a != Type::u32 && a != Type::s32) || (b != Type::u32 && b != Type::s32)) return false;
  s.imm |= (a == Type::s32 ? 1 : 0) | (b == Type::s32 ? 2 : 0);
  return finish3(s,
                 both(four ? &each3<U32, U32, U32, U32, Dp4a> : &each3<U32, U32, U32, U32, Dp2a>),
                 Type::b32);
}

}  // namespace

bool select_product(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base == "mul") return mul(form, s);
  if (base == "mad") return mad(form, s);
  if (base == "mul24" || base == "mad24") return mul24(form, s, base == "mad24");
  return dot_product(form, s);
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
