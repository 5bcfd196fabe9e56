// Approximate functions of f32: ex2 lg2 sin cos tanh. Never worse than PTX's stated error.
#include "engine/emulator/small_float.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

// 2^x: the integer part goes to the exponent, the rest is a polynomial on [-1/2, 1/2].
struct Ex2 {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> x) {
    const Chunk<T> magic = splat<T>(static_cast<T>(0x1.8p23F));
    const Chunk<T> lo = splat<T>(-160.0F);
    const Chunk<T> hi = splat<T>(160.0F);
    Chunk<T> v = x < lo ? lo : x;
    v = v > hi ? hi : v;
    const Chunk<T> n = (v + magic) - magic;
    const Chunk<T> f = v - n;
    Chunk<T> p = splat<T>(1.5252734e-5F);
    p = p * f + 1.5403530e-4F;
    p = p * f + 1.3333558e-3F;
    p = p * f + 9.6181291e-3F;
    p = p * f + 5.5504109e-2F;
    p = p * f + 2.4022651e-1F;
    p = p * f + 6.9314718e-1F;
    p = p * f + 1.0F;
    const Chunk<int> e = __builtin_convertvector(n, Chunk<int>);
    const Chunk<int> half = e >> 1;
    const auto s1 = reinterpret_cast<Chunk<T>>((half + 127) << 23);
    const auto s2 = reinterpret_cast<Chunk<T>>((e - half + 127) << 23);
    const Chunk<T> r = p * s1 * s2;
    return x == x ? r : x;
  }
};
struct Ex2Ftz {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> x) {
    return flush(canonical(Ex2::of<T>(flush(x))));
  }
};
struct Ex2Plain {
  template <class T>
  ASSAY_INLINE static Chunk<T> of(Chunk<T> x) {
    return canonical(Ex2::of<T>(x));
  }
};

#define ASSAY_LANE_FUNCTION(Name, call)   \
  template <bool Ftz>                     \
  struct Name {                           \
    static float of(float v, const Op&) { \
      const float x = Ftz ? flush(v) : v; \
      const float r = canonical(call);    \
      return Ftz ? flush(r) : r;          \
    }                                     \
  };
ASSAY_LANE_FUNCTION(Lg2, __builtin_log2f(x))
ASSAY_LANE_FUNCTION(Sin, __builtin_sinf(x))
ASSAY_LANE_FUNCTION(Cos, __builtin_cosf(x))
ASSAY_LANE_FUNCTION(Tanh, __builtin_tanhf(x))
#undef ASSAY_LANE_FUNCTION

template <template <bool> class F>
Handlers lane_function(bool ftz) {
  return both(ftz ? &each1<float, float, F<true>> : &each1<float, float, F<false>>);
}

}  // namespace

bool select_math(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base != "ex2" && base != "lg2" && base != "sin" && base != "cos" && base != "tanh")
    return false;
  Form f = form;
  if (!f.take("approx")) return false;
  const bool ftz = f.take("ftz");
  if (f.take_type() != Type::f32) return false;
  form = f;
  s.operands = {Type::f32, Type::f32};
  if (base == "ex2") s.handlers = ftz ? make1<float, Ex2Ftz>() : make1<float, Ex2Plain>();
  if (base == "lg2") s.handlers = lane_function<Lg2>(ftz);
  if (base == "sin") s.handlers = lane_function<Sin>(ftz);
  if (base == "cos") s.handlers = lane_function<Cos>(ftz);
  if (base == "tanh") s.handlers = lane_function<Tanh>(ftz);
  return true;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
