// f32 and f64 arithmetic: add sub mul fma div rcp sqrt rsqrt.
#include "engine/emulator/rounding.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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
  return chained<kFull, kMasked>();
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
  if (base == "min" || base == "max" || base == "neg" || base == "abs" || base == "copysign" ||
      base == "testp") {
    found = select_sign(f, s);
  }
  if (found) {
    form = f;
  } else {
    s = {};
  }
  return found;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
