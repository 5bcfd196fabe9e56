// Integer arithmetic: add sub mul mad div rem min max neg abs sad, carries, and bit counting.
#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U16 = unsigned short;
using U32 = unsigned int;
using U64 = unsigned long long;
using S16 = short;
using S32 = int;
using S64 = long long;

// --- vectors ---
// PTX arithmetic wraps. Signed C++ does not, so it is done on the bits.
template <class C>
ASSAY_INLINE auto bits(C chunk) {
  using T = std::remove_cvref_t<decltype(chunk[0])>;
  return reinterpret_cast<Chunk<Unsigned<T>>>(chunk);
}
template <class T>
ASSAY_INLINE Chunk<T> signed_again(Chunk<Unsigned<T>> chunk) {
  return reinterpret_cast<Chunk<T>>(chunk);
}

struct Add {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return signed_again<T>(bits(a) + bits(b));
  }
};
struct Sub {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return signed_again<T>(bits(a) - bits(b));
  }
};
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
struct Min {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a > b ? a : b;
  }
};
struct Neg {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return signed_again<T>(Chunk<Unsigned<T>>{} - bits(a));
  }
};
struct Abs {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return a < 0 ? Neg::of<T>(a) : a;
  }
};
struct Sad {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b, Chunk<T> c) {
    const Chunk<T> distance = a < b ? Sub::of<T>(b, a) : Sub::of<T>(a, b);
    return Add::of<T>(c, distance);
  }
};

// --- one lane ---
template <class T>
struct Div {
  static T of(T a, T b, const Op&) {
    if (b == 0) return static_cast<T>(~T{0});
    if (static_cast<T>(-1) < 0 && b == static_cast<T>(-1)) {
      return static_cast<T>(0 - static_cast<Unsigned<T>>(a));
    }
    return static_cast<T>(a / b);
  }
};
// By zero PTX leaves the result open; all ones, as for division.
template <class T>
struct Rem {
  static T of(T a, T b, const Op&) {
    if (b == 0) return static_cast<T>(~T{0});
    if (static_cast<T>(-1) < 0 && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};

template <class T>
struct WideOf;
template <>
struct WideOf<U16> {
  using type = U32;
};
template <>
struct WideOf<S16> {
  using type = S32;
};
template <>
struct WideOf<U32> {
  using type = U64;
};
template <>
struct WideOf<S32> {
  using type = S64;
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
template <>
struct WideOf<U64> {
  using type = unsigned __int128;
};
template <>
struct WideOf<S64> {
  using type = __int128;
};
#pragma GCC diagnostic pop
template <class T>
using Wide = typename WideOf<T>::type;

template <class T>
struct MulHi {
  static T of(T a, T b, const Op&) {
    return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (8 * sizeof(T)));
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

ASSAY_INLINE S32 clamp32(S64 v) {
  return v > 0x7FFFFFFF      ? 0x7FFFFFFF
         : v < -0x80000000LL ? static_cast<S32>(-0x80000000LL)
                             : static_cast<S32>(v);
}
struct AddSat {
  static S32 of(S32 a, S32 b, const Op&) { return clamp32(S64{a} + b); }
};
struct SubSat {
  static S32 of(S32 a, S32 b, const Op&) { return clamp32(S64{a} - b); }
};
// Two 16-bit numbers in one register, no carry between them.
struct PairAdd {
  static U32 of(U32 a, U32 b, const Op&) {
    return ((a + b) & 0xFFFFU) | ((a & 0xFFFF0000U) + (b & 0xFFFF0000U));
  }
};
struct PairSub {
  static U32 of(U32 a, U32 b, const Op&) {
    return ((a - b) & 0xFFFFU) | ((a & 0xFFFF0000U) - (b & 0xFFFF0000U));
  }
};
struct MadHiSat {
  static S32 of(S32 a, S32 b, S32 c, const Op&) { return clamp32(((S64{a} * b) >> 32) + c); }
};

// --- carries: CC is a predicate of the frame, op.target ---
enum class Carry { add, sub };
template <class T, Carry Kind, bool In, bool Out>
void carry2(Warp& w, const Op& op) {
  T* const d = lanes_of<T>(w, op.d);
  const T* const a = lanes_of<T>(w, op.a);
  const T* const b = lanes_of<T>(w, op.b);
  std::uint32_t& cc = predicate(w, op.target);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const T in = In ? static_cast<T>(cc >> k & 1U) : T{0};
    T sum = 0;
    bool out = false;
    T partial = 0;
    if constexpr (Kind == Carry::add) {
      out = __builtin_add_overflow(a[k], b[k], &partial);
      out |= __builtin_add_overflow(partial, in, &sum);
    } else {
      out = __builtin_sub_overflow(a[k], b[k], &partial);
      out |= __builtin_sub_overflow(partial, in, &sum);
    }
    d[k] = sum;
    if constexpr (Out) cc = (cc & ~(1U << k)) | static_cast<std::uint32_t>(out) << k;
  }
}

template <class T, bool Hi, bool In, bool Out>
void carry_mad(Warp& w, const Op& op) {
  using U = Unsigned<T>;
  U* const d = lanes_of<U>(w, op.d);
  const T* const a = lanes_of<T>(w, op.a);
  const T* const b = lanes_of<T>(w, op.b);
  const U* const c = lanes_of<U>(w, op.c);
  std::uint32_t& cc = predicate(w, op.target);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const U in = In ? static_cast<U>(cc >> k & 1U) : U{0};
    const U product = Hi ? static_cast<U>(MulHi<T>::of(a[k], b[k], op))
                         : static_cast<U>(static_cast<U>(a[k]) * static_cast<U>(b[k]));
    U partial = 0;
    U sum = 0;
    bool out = __builtin_add_overflow(product, c[k], &partial);
    out |= __builtin_add_overflow(partial, in, &sum);
    d[k] = sum;
    if constexpr (Out) cc = (cc & ~(1U << k)) | static_cast<std::uint32_t>(out) << k;
  }
}

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

struct Popc32 {
  static U32 of(U32 a, const Op&) { return static_cast<U32>(__builtin_popcount(a)); }
};
struct Popc64 {
  static U32 of(U64 a, const Op&) { return static_cast<U32>(__builtin_popcountll(a)); }
};
struct Clz32 {
  static U32 of(U32 a, const Op&) { return a == 0 ? 32 : static_cast<U32>(__builtin_clz(a)); }
};
struct Clz64 {
  static U32 of(U64 a, const Op&) { return a == 0 ? 64 : static_cast<U32>(__builtin_clzll(a)); }
};
template <class T>
struct Brev {
  static T of(T a, const Op&) {
    T r = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
      r = static_cast<T>(r << 1 | (a >> i & 1U));
    }
    return r;
  }
};
// Position of the most significant bit that is not sign; with ShiftAmount its distance from the
// top.
template <class T, bool ShiftAmount>
struct Bfind {
  static U32 of(T a, const Op&) {
    using U = Unsigned<T>;
    const U v =
        static_cast<T>(-1) < 0 && a < 0 ? static_cast<U>(~static_cast<U>(a)) : static_cast<U>(a);
    if (v == 0) return 0xFFFFFFFFU;
    const auto zeros =
        static_cast<U32>(sizeof(T) == 8 ? __builtin_clzll(v) : __builtin_clz(static_cast<U32>(v)));
    return ShiftAmount ? zeros : static_cast<U32>(8 * sizeof(T)) - 1 - zeros;
  }
};

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

template <class F>
Handlers wrap2(Type t) {  // sign does not matter
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
Handlers wrap1(Type t) {
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
template <class F>
Handlers typed2(Type t) {
  switch (t) {
    case Type::u16:
      return make2<U16, F>();
    case Type::u32:
      return make2<U32, F>();
    case Type::u64:
      return make2<U64, F>();
    case Type::s16:
      return make2<S16, F>();
    case Type::s32:
      return make2<S32, F>();
    case Type::s64:
      return make2<S64, F>();
    default:
      return {};
  }
}
template <template <class> class F>
Handlers each2_typed(Type t) {
  switch (t) {
    case Type::u16:
      return both(&each2<U16, U16, U16, F<U16>>);
    case Type::u32:
      return both(&each2<U32, U32, U32, F<U32>>);
    case Type::u64:
      return both(&each2<U64, U64, U64, F<U64>>);
    case Type::s16:
      return both(&each2<S16, S16, S16, F<S16>>);
    case Type::s32:
      return both(&each2<S32, S32, S32, F<S32>>);
    case Type::s64:
      return both(&each2<S64, S64, S64, F<S64>>);
    default:
      return {};
  }
}
template <template <class> class F>
Handlers each3_typed(Type t) {
  switch (t) {
    case Type::u16:
      return both(&each3<U16, U16, U16, U16, F<U16>>);
    case Type::u32:
      return both(&each3<U32, U32, U32, U32, F<U32>>);
    case Type::u64:
      return both(&each3<U64, U64, U64, U64, F<U64>>);
    case Type::s16:
      return both(&each3<S16, S16, S16, S16, F<S16>>);
    case Type::s32:
      return both(&each3<S32, S32, S32, S32, F<S32>>);
    case Type::s64:
      return both(&each3<S64, S64, S64, S64, F<S64>>);
    default:
      return {};
  }
}

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

bool finish2(Selection& s, Handlers h, Type t) {
  s.handlers = h;
  s.operands = {t, t, t};
  return h.full != nullptr;
}
bool finish3(Selection& s, Handlers h, Type t) {
  s.handlers = h;
  s.operands = {t, t, t, t};
  return h.full != nullptr;
}

bool carry_chain(Form& form, Selection& s) {
  const std::string_view base = form.base();
  const bool out = form.take("cc");
  const bool in = base == "addc" || base == "subc" || base == "madc";
  if (base == "mad" || base == "madc") {
    const bool hi = form.take("hi");
    if (!hi && !form.take("lo")) return false;
    const Type t = form.take_type();
    if (!is_integer(t) || bits_of(t) < 32) return false;
    s.uses_carry = true;
    const auto pick = [&]<class T>(T) -> Handler {
      if (hi)
        return in ? (out ? &carry_mad<T, true, true, true> : &carry_mad<T, true, true, false>)
                  : &carry_mad<T, true, false, true>;
      return in ? (out ? &carry_mad<T, false, true, true> : &carry_mad<T, false, true, false>)
                : &carry_mad<T, false, false, true>;
    };
    const Handler h = t == Type::u32   ? pick(U32{})
                      : t == Type::s32 ? pick(S32{})
                      : t == Type::u64 ? pick(U64{})
                                       : pick(S64{});
    return finish3(s, both(h), t);
  }
  const Type t = form.take_type();
  if (bits_of(t) != 32 && bits_of(t) != 64) return false;
  if (is_float(t)) return false;
  s.uses_carry = true;
  const auto pick = [&]<class T>(T) -> Handler {
    if (base == "add") return &carry2<T, Carry::add, false, true>;
    if (base == "sub") return &carry2<T, Carry::sub, false, true>;
    if (base == "addc") {
      return out ? &carry2<T, Carry::add, true, true> : &carry2<T, Carry::add, true, false>;
    }
    return out ? &carry2<T, Carry::sub, true, true> : &carry2<T, Carry::sub, true, false>;
  };
  return finish2(s, both(bits_of(t) == 32 ? pick(U32{}) : pick(U64{})), t);
}

bool add_sub(Form& form, Selection& s) {
  Form f = form;
  const bool sat = f.take("sat");
  const Type t = f.take_type();
  const bool add = f.base() == "add";
  Handlers h;
  if (t == Type::u16x2 || t == Type::s16x2) {
    if (sat) return false;
    h = both(add ? &each2<U32, U32, U32, PairAdd> : &each2<U32, U32, U32, PairSub>);
  } else if (!is_integer(t) || bits_of(t) < 16) {
    return false;
  } else if (sat) {
    if (t != Type::s32) return false;
    h = add ? both(&each2<S32, S32, S32, AddSat>) : both(&each2<S32, S32, S32, SubSat>);
  } else {
    h = add ? wrap2<Add>(t) : wrap2<Sub>(t);
  }
  form = f;
  return finish2(s, h, t);
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
      s.handlers = {&mul_wide32<U32, false>, &mul_wide32<U32, true>};
      break;
    case Type::s32:
      s.handlers = {&mul_wide32<S32, false>, &mul_wide32<S32, true>};
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

bool mul24(Form& form, Selection& s, bool adds) {
  const bool hi = form.take("hi");
  if (!hi && !form.take("lo")) return false;
  const Type t = form.take_type();
  if (t != Type::u32 && t != Type::s32) return false;
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

bool counting(Form& form, Selection& s) {
  const std::string_view base = form.base();
  const bool shift_amount = base == "bfind" && form.take("shiftamt");
  const Type t = form.take_type();
  const bool is32 = bits_of(t) == 32;
  if (!is32 && bits_of(t) != 64) return false;
  s.operands = {Type::u32, t};
  if (base == "popc") {
    s.handlers = both(is32 ? &each1<U32, U32, Popc32> : &each1<U32, U64, Popc64>);
  } else if (base == "clz") {
    s.handlers = both(is32 ? &each1<U32, U32, Clz32> : &each1<U32, U64, Clz64>);
  } else if (base == "brev") {
    s.operands = {t, t};
    s.handlers = both(is32 ? &each1<U32, U32, Brev<U32>> : &each1<U64, U64, Brev<U64>>);
  } else {
    const auto pick = [&]<class T>(T) -> Handler {
      return shift_amount ? &each1<U32, T, Bfind<T, true>> : &each1<U32, T, Bfind<T, false>>;
    };
    if (!is_integer(t)) return false;
    s.handlers = both(is_signed(t) ? (is32 ? pick(S32{}) : pick(S64{}))
                                   : (is32 ? pick(U32{}) : pick(U64{})));
  }
  return true;
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

bool sad(Form& form, Selection& s) {
  const Type t = form.take_type();
  s.operands = {t, t, t, t};
  switch (t) {
    case Type::u16:
      s.handlers = make3<U16, Sad>();
      break;
    case Type::s16:
      s.handlers = make3<S16, Sad>();
      break;
    case Type::u32:
      s.handlers = make3<U32, Sad>();
      break;
    case Type::s32:
      s.handlers = make3<S32, Sad>();
      break;
    case Type::u64:
      s.handlers = make3<U64, Sad>();
      break;
    case Type::s64:
      s.handlers = make3<S64, Sad>();
      break;
    default:
      return false;
  }
  return true;
}

// Families shared with floating point: hands back unless the type is an integer.
bool plain2(Form& form, Selection& s) {
  Form f = form;
  const Type t = f.take_type();
  if (!is_integer(t) || bits_of(t) < 16) return false;
  form = f;
  const std::string_view base = form.base();
  if (base == "div") return finish2(s, each2_typed<Div>(t), t);
  if (base == "rem") return finish2(s, each2_typed<Rem>(t), t);
  if (base == "min") return finish2(s, typed2<Min>(t), t);
  if (base == "max") return finish2(s, typed2<Max>(t), t);
  s.operands = {t, t};
  if (!is_signed(t)) return false;
  if (base == "neg") {
    s.handlers = wrap1<Neg>(t);
  } else {
    s.handlers = bits_of(t) == 16   ? make1<S16, Abs>()
                 : bits_of(t) == 32 ? make1<S32, Abs>()
                                    : make1<S64, Abs>();
  }
  return s.handlers.full != nullptr;
}

}  // namespace

bool select_integer(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base == "addc" || base == "subc" || base == "madc") return carry_chain(form, s);
  if ((base == "add" || base == "sub" || base == "mad") && form.has("cc")) {
    return carry_chain(form, s);
  }
  if (base == "add" || base == "sub") return add_sub(form, s);
  if (base == "mul") return mul(form, s);
  if (base == "mad") return mad(form, s);
  if (base == "mul24" || base == "mad24") return mul24(form, s, base == "mad24");
  if (base == "sad") return sad(form, s);
  if (base == "dp4a" || base == "dp2a") return dot_product(form, s);
  if (base == "popc" || base == "clz" || base == "brev" || base == "bfind") {
    return counting(form, s);
  }
  if (base == "div" || base == "rem" || base == "min" || base == "max" || base == "neg" ||
      base == "abs") {
    return plain2(form, s);
  }
  return false;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
