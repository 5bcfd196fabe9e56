// Integer arithmetic: add sub div rem min max neg abs sad; the other families of integers from
// here.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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
  if (base == "addc" || base == "subc" || base == "madc") return select_carry(form, s);
  if ((base == "add" || base == "sub" || base == "mad") && form.has("cc")) {
    return select_carry(form, s);
  }
  if (base == "add" || base == "sub") return add_sub(form, s);
  if (base == "mul" || base == "mad" || base == "mul24" || base == "mad24" || base == "dp4a" ||
      base == "dp2a") {
    return select_product(form, s);
  }
  if (base == "sad") return sad(form, s);
  if (base == "popc" || base == "clz" || base == "brev" || base == "bfind") {
    return select_bit_count(form, s);
  }
  if (base == "div" || base == "rem" || base == "min" || base == "max" || base == "neg" ||
      base == "abs") {
    return plain2(form, s);
  }
  return false;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
