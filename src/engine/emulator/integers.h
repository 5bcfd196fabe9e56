// What the files of integer instructions share: arithmetic on bits, wide products, and the choice
// of handlers by type. For *_ops.cc only.
#pragma once

#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {

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

ASSAY_INLINE S32 clamp32(S64 v) {
  return v > 0x7FFFFFFF      ? 0x7FFFFFFF
         : v < -0x80000000LL ? static_cast<S32>(-0x80000000LL)
                             : static_cast<S32>(v);
}

// Where the sign does not matter.
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
Handlers wrap2(Type t) {
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

inline bool finish2(Selection& s, Handlers h, Type t) {
  s.handlers = h;
  s.operands = {t, t, t};
  return h.full != nullptr;
}
inline bool finish3(Selection& s, Handlers h, Type t) {
  s.handlers = h;
  s.operands = {t, t, t, t};
  return h.full != nullptr;
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
