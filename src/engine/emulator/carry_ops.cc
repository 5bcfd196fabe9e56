// Integer arithmetic with carry: add.cc addc sub.cc subc mad.cc madc. CC is a predicate of the
// frame.
#include "engine/emulator/integers.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

// --- carries: CC is a predicate of the frame, op.target ---
// A difference is a sum with the complement, so CC tells that nothing was borrowed: code that mixes
// sub.cc and addc counts on it, as the compiler's own division of 128-bit integers does.
enum class Carry { add, sub };
template <class T, Carry Kind, bool In, bool Out>
void carry2(Warp& w, const Op& op) {
  T* const d = lanes_of<T>(w, op.d);
  const T* const a = lanes_of<T>(w, op.a);
  const T* const b = lanes_of<T>(w, op.b);
  std::uint32_t& cc = predicate(w, op.target);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const bool carried = (cc >> k & 1U) != 0;
    const T in = In && carried == (Kind == Carry::add) ? T{1} : T{0};
    T sum = 0;
    bool out = false;
    T partial = 0;
    if constexpr (Kind == Carry::add) {
      out = __builtin_add_overflow(a[k], b[k], &partial);
      out |= __builtin_add_overflow(partial, in, &sum);
    } else {
      out = __builtin_sub_overflow(a[k], b[k], &partial);
      out |= __builtin_sub_overflow(partial, in, &sum);
      out = !out;
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

}  // namespace

bool select_carry(Form& form, Selection& s) {
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

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
