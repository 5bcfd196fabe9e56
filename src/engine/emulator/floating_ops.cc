// f32 and f64 arithmetic: add sub mul fma div rcp sqrt neg abs copysign min max testp.
#include "engine/emulator/rounding.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U32 = unsigned int;
using U64 = unsigned long long;

ASSAY_INLINE Chunk<float> fused(Chunk<float> a, Chunk<float> b, Chunk<float> c) {
#ifdef __FMA__
  return reinterpret_cast<Chunk<float>>(_mm256_fmadd_ps(
      reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  Chunk<float> r{};
  for (int k = 0; k < 8; ++k) r[k] = __builtin_fmaf(a[k], b[k], c[k]);
  return r;
#endif
}
ASSAY_INLINE Chunk<double> fused(Chunk<double> a, Chunk<double> b, Chunk<double> c) {
#ifdef __FMA__
  return reinterpret_cast<Chunk<double>>(_mm256_fmadd_pd(
      reinterpret_cast<__m256d>(a), reinterpret_cast<__m256d>(b), reinterpret_cast<__m256d>(c)));
#else
  Chunk<double> r{};
  for (int k = 0; k < 4; ++k) r[k] = __builtin_fma(a[k], b[k], c[k]);
  return r;
#endif
}
ASSAY_INLINE Chunk<float> root(Chunk<float> a) {
#ifdef __AVX2__
  return reinterpret_cast<Chunk<float>>(_mm256_sqrt_ps(reinterpret_cast<__m256>(a)));
#else
  Chunk<float> r{};
  for (int k = 0; k < 8; ++k) r[k] = __builtin_sqrtf(a[k]);
  return r;
#endif
}
ASSAY_INLINE Chunk<double> root(Chunk<double> a) {
#ifdef __AVX2__
  return reinterpret_cast<Chunk<double>>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(a)));
#else
  Chunk<double> r{};
  for (int k = 0; k < 4; ++k) r[k] = __builtin_sqrt(a[k]);
  return r;
#endif
}

struct Add {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a + b;
  }
};
struct Sub {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a - b;
  }
};
struct Mul {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a * b;
  }
};
struct Div {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    return a / b;
  }
};
// div.approx: a divisor beyond 2^126 gives 0, or NaN for an infinite dividend.
struct DivApprox {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    const Chunk<T> magnitude = b < 0 ? -b : b;
    const Chunk<T> limit = splat<T>(static_cast<T>(0x1p126));
    const Chunk<T> infinity = splat<T>(static_cast<T>(__builtin_inff()));
    const Chunk<T> r = a / b;
    return (magnitude > limit) & (magnitude < infinity) ? a * Chunk<T>{} : r;
  }
};
struct Fma {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b, Chunk<T> c) {
    return fused(a, b, c);
  }
};
struct Rcp {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return (Chunk<T>{} + 1) / a;
  }
};
struct Sqrt {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return root(a);
  }
};
struct Rsqrt {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return (Chunk<T>{} + 1) / root(a);
  }
};

template <class F, bool Ftz, bool Sat>
struct Rounded {
  template <class T>
  ASSAY_INLINE static Chunk<T> in(Chunk<T> v) {
    if constexpr (Ftz) return flush(v);
    return v;
  }
  template <class T>
  ASSAY_INLINE static Chunk<T> out(Chunk<T> v) {
    if constexpr (Sat) return saturate(in<T>(v));
    return canonical(in<T>(v));
  }
  template <class T, class... V>
  ASSAY_INLINE static Chunk<T> of(V... v) {
    return out<T>(F::template of<T>(in<T>(v)...));
  }
};

// --- sign and order ---
struct Neg {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return -a;
  }
};
struct Abs {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    using U = Unsigned<T>;
    return reinterpret_cast<Chunk<T>>(reinterpret_cast<Chunk<U>>(a) &
                                      static_cast<U>(~(U{1} << (8 * sizeof(T) - 1))));
  }
};
struct NegFtz {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return -flush(a);
  }
};
struct AbsFtz {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    return Abs::of<T>(flush(a));
  }
};
// The magnitude of b with the sign of a.
struct CopySign {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a, Chunk<T> b) {
    using U = Unsigned<T>;
    const U sign = U{1} << (8 * sizeof(T) - 1);
    return reinterpret_cast<Chunk<T>>((reinterpret_cast<Chunk<U>>(a) & sign) |
                                      (reinterpret_cast<Chunk<U>>(b) & static_cast<U>(~sign)));
  }
};

// A number wins over NaN (unless .NaN), and -0 is below +0.
template <bool IsMax, bool Ftz, bool NaN, bool XorSign>
struct Extreme {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> x, Chunk<T> y) {
    using U = Unsigned<T>;
    Chunk<T> a = x;
    Chunk<T> b = y;
    if constexpr (Ftz) {
      a = flush(x);
      b = flush(y);
    }
    const auto sign = (reinterpret_cast<Chunk<U>>(a) ^ reinterpret_cast<Chunk<U>>(b)) &
                      (U{1} << (8 * sizeof(T) - 1));
    if constexpr (XorSign) {
      a = Abs::of<T>(a);
      b = Abs::of<T>(b);
    }
    const auto ab = reinterpret_cast<Chunk<U>>(a);
    const auto bb = reinterpret_cast<Chunk<U>>(b);
    const auto equal = reinterpret_cast<Chunk<T>>(IsMax ? ab & bb : ab | bb);
    const Chunk<T> ordered = IsMax ? (a > b ? a : b) : (a < b ? a : b);
    Chunk<T> r = a == b ? equal : ordered;
    if constexpr (NaN) {
      r = (a == a) & (b == b) ? r : a + b;
    } else {
      r = a == a ? (b == b ? r : a) : b;
    }
    r = canonical(r);
    if constexpr (XorSign) {
      r = r == r ? reinterpret_cast<Chunk<T>>(reinterpret_cast<Chunk<U>>(r) | sign) : r;
    }
    return r;
  }
};

template <class T, class F, unsigned N>
constexpr Handler full_of() {
  if constexpr (N == 1) return &map1<T, F, false>;
  if constexpr (N == 2) return &map2<T, F, false>;
  if constexpr (N == 3) return &map3<T, F, false>;
}
template <class T, class F, unsigned N>
constexpr Handler masked_of() {
  if constexpr (N == 1) return &map1<T, F, true>;
  if constexpr (N == 2) return &map2<T, F, true>;
  if constexpr (N == 3) return &map3<T, F, true>;
}

template <class T, class F, unsigned N>
Handlers rounded(Round r) {
  constexpr Handler kFull = full_of<T, F, N>();
  constexpr Handler kMasked = masked_of<T, F, N>();
  switch (r) {
    case Round::zero:
      return {&with_rounding<kFull, Round::zero>, &with_rounding<kMasked, Round::zero>};
    case Round::minus:
      return {&with_rounding<kFull, Round::minus>, &with_rounding<kMasked, Round::minus>};
    case Round::plus:
      return {&with_rounding<kFull, Round::plus>, &with_rounding<kMasked, Round::plus>};
    case Round::nearest:
      break;
  }
  return {kFull, kMasked};
}

// Rounding, ftz and sat of one operation of N sources.
template <class F, unsigned N>
bool arithmetic(Form& form, Selection& s) {
  const Round r = take_rounding(form);
  const bool ftz = form.take("ftz");
  const bool sat = form.take("sat");
  const Type t = form.take_type();
  for (unsigned i = 0; i <= N; ++i) s.operands[i] = t;
  if (t == Type::f64) {
    if (ftz || sat) return false;
    s.handlers = rounded<double, Rounded<F, false, false>, N>(r);
    return true;
  }
  if (t != Type::f32) return false;
  s.handlers = ftz ? (sat ? rounded<float, Rounded<F, true, true>, N>(r)
                          : rounded<float, Rounded<F, true, false>, N>(r))
                   : (sat ? rounded<float, Rounded<F, false, true>, N>(r)
                          : rounded<float, Rounded<F, false, false>, N>(r));
  return true;
}

template <class F>
Handlers approximate1(bool ftz) {
  return ftz ? make1<float, Rounded<F, true, false>>() : make1<float, Rounded<F, false, false>>();
}

bool divide(Form& form, Selection& s) {
  if (form.take("full")) {
    const bool ftz = form.take("ftz");
    if (form.take_type() != Type::f32) return false;
    s.handlers = ftz ? make2<float, Rounded<Div, true, false>>()
                     : make2<float, Rounded<Div, false, false>>();
    s.operands = {Type::f32, Type::f32, Type::f32};
    return true;
  }
  if (form.take("approx")) {
    const bool ftz = form.take("ftz");
    if (form.take_type() != Type::f32) return false;
    s.handlers = ftz ? make2<float, Rounded<DivApprox, true, false>>()
                     : make2<float, Rounded<DivApprox, false, false>>();
    s.operands = {Type::f32, Type::f32, Type::f32};
    return true;
  }
  return arithmetic<Div, 2>(form, s);
}

// rcp.approx.ftz.f64 keeps the high 20 bits of the mantissa: the result's low word is zero.
struct RcpCoarse {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    using U = Unsigned<T>;
    const auto bits = reinterpret_cast<Chunk<U>>(a);
    const Chunk<U> subnormal_to_zero = (bits & static_cast<U>(0x7FF0000000000000ULL)) == 0
                                           ? bits & static_cast<U>(0x8000000000000000ULL)
                                           : bits;
    const Chunk<T> r = (Chunk<T>{} + 1) / reinterpret_cast<Chunk<T>>(subnormal_to_zero);
    const Chunk<U> kept = reinterpret_cast<Chunk<U>>(r) & static_cast<U>(0xFFFFFFFF00000000ULL);
    return r == r ? reinterpret_cast<Chunk<T>>(kept) : r;
  }
};
struct RsqrtCoarse {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> a) {
    using U = Unsigned<T>;
    const Chunk<T> r = (Chunk<T>{} + 1) / root(a);
    const Chunk<U> kept = reinterpret_cast<Chunk<U>>(r) & static_cast<U>(0xFFFFFFFF00000000ULL);
    return r == r ? reinterpret_cast<Chunk<T>>(kept) : r;
  }
};

// Approximate results are exact ones here: within every bound PTX states.
template <class F, class Coarse>
bool inverse(Form& form, Selection& s) {
  if (!form.take("approx")) return arithmetic<F, 1>(form, s);
  const bool ftz = form.take("ftz");
  const Type t = form.take_type();
  s.operands = {t, t};
  if (t == Type::f64) {
    // Without ftz a device works it out in software, to the last bits: CUDA's rsqrt() is that.
    s.handlers = ftz ? make1<double, Coarse>() : make1<double, F>();
    return true;
  }
  s.handlers = approximate1<F>(ftz);
  return t == Type::f32;
}

template <bool IsMax>
bool extreme(Form& form, Selection& s) {
  const bool ftz = form.take("ftz");
  const bool nan = form.take("NaN");
  const bool xorsign = form.take("xorsign");
  if (xorsign && !form.take("abs")) return false;
  const Type t = form.take_type();
  s.operands = {t, t, t};
  if (t == Type::f64 && !ftz && !nan && !xorsign) {
    s.handlers = make2<double, Extreme<IsMax, false, false, false>>();
    return true;
  }
  if (t != Type::f32) return false;
  if (xorsign) {
    s.handlers = ftz ? (nan ? make2<float, Extreme<IsMax, true, true, true>>()
                            : make2<float, Extreme<IsMax, true, false, true>>())
                     : (nan ? make2<float, Extreme<IsMax, false, true, true>>()
                            : make2<float, Extreme<IsMax, false, false, true>>());
  } else {
    s.handlers = ftz ? (nan ? make2<float, Extreme<IsMax, true, true, false>>()
                            : make2<float, Extreme<IsMax, true, false, false>>())
                     : (nan ? make2<float, Extreme<IsMax, false, true, false>>()
                            : make2<float, Extreme<IsMax, false, false, false>>());
  }
  return true;
}

bool sign(Form& form, Selection& s) {
  const std::string_view base = form.base();
  const bool ftz = form.take("ftz");
  const Type t = form.take_type();
  if ((t != Type::f32 && t != Type::f64) || (t == Type::f64 && ftz)) return false;
  s.operands = {t, t};
  if (base == "copysign") {
    s.operands[2] = t;
    s.handlers = t == Type::f32 ? make2<float, CopySign>() : make2<double, CopySign>();
  } else if (base == "neg") {
    s.handlers = t == Type::f64 ? make1<double, Neg>()
                 : ftz          ? make1<float, NegFtz>()
                                : make1<float, Neg>();
  } else {
    s.handlers = t == Type::f64 ? make1<double, Abs>()
                 : ftz          ? make1<float, AbsFtz>()
                                : make1<float, Abs>();
  }
  return true;
}

// --- testp: op.aux says which class ---
enum class Class : std::uint32_t { finite, infinite, number, notanumber, normal, subnormal };
template <class T>
bool in_class(T v, Class c) {
  switch (c) {
    case Class::finite:
      return __builtin_isfinite(v);
    case Class::infinite:
      return __builtin_isinf(v);
    case Class::number:
      return v == v;
    case Class::notanumber:
      return v != v;
    case Class::normal:
      return __builtin_isnormal(v);
    case Class::subnormal:
      return __builtin_isfinite(v) && !__builtin_isnormal(v) && v != 0;
  }
  return false;
}
template <class T>
void test(Warp& w, const Op& op) {
  const T* const a = lanes_of<T>(w, op.a);
  std::uint32_t r = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    r |= static_cast<std::uint32_t>(in_class(a[k], static_cast<Class>(op.aux))) << k;
  }
  std::uint32_t& p = predicate(w, op.d);
  p = (p & ~w.active) | r;
}

bool testp(Form& form, Selection& s) {
  constexpr std::string_view kNames[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};
  bool found = false;
  for (std::uint32_t i = 0; i < 6 && !found; ++i) {
    found = form.take(kNames[i]);
    s.aux = i;
  }
  const Type t = form.take_type();
  s.operands = {Type::pred, t};
  s.handlers = both(t == Type::f32 ? &test<float> : &test<double>);
  return found && (t == Type::f32 || t == Type::f64);
}

}  // namespace

bool select_floating(Form& form, Selection& s) {
  // Another family's type leaves the form untouched.
  Form f = form;
  const std::string_view base = f.base();
  bool found = false;
  if (base == "add") found = arithmetic<Add, 2>(f, s);
  if (base == "sub") found = arithmetic<Sub, 2>(f, s);
  if (base == "mul") found = arithmetic<Mul, 2>(f, s);
  if (base == "fma" || base == "mad") found = arithmetic<Fma, 3>(f, s);
  if (base == "div") found = divide(f, s);
  if (base == "rcp") found = inverse<Rcp, RcpCoarse>(f, s);
  if (base == "sqrt") found = inverse<Sqrt, Sqrt>(f, s);
  if (base == "rsqrt" && f.has("approx")) found = inverse<Rsqrt, RsqrtCoarse>(f, s);
  if (base == "min") found = extreme<false>(f, s);
  if (base == "max") found = extreme<true>(f, s);
  if (base == "neg" || base == "abs" || base == "copysign") found = sign(f, s);
  if (base == "testp") found = testp(f, s);
  if (found) {
    form = f;
  } else {
    s = {};
  }
  return found;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
