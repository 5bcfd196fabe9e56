// Counting and finding bits: popc clz brev bfind.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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

}  // namespace

bool select_bit_count(Form& form, Selection& s) {
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

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
