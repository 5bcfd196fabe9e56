// Bit fields and bytes: bfe bfi prmt szext bmsk.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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

}  // namespace

bool select_bit_field(Form& form, Selection& s) {
  const std::string_view base = form.base();
  if (base == "bfe" || base == "bfi") return field(form, s);
  return base == "prmt" ? prmt(form, s) : mask(form, s);
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
