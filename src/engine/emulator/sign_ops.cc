// f32 and f64 by sign, order and class: neg abs copysign min max testp.
#include "engine/emulator/rounding.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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

bool select_sign(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base == "min") return extreme<false>(form, s);
  if (base == "max") return extreme<true>(form, s);
  return base == "testp" ? testp(form, s) : sign(form, s);
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
