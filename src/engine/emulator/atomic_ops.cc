#include "engine/emulator/atomic_ops.h"

#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "engine/emulator/block.h"
#include "engine/emulator/half_atomics.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
T* row(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<T*>(w.rows + offset);
}

// The bytes of one lane, or a fault.
std::byte* locate(Warp& w, const Op& op, unsigned lane, unsigned bytes) {
  const U64 address = row<U64>(w, op.a)[lane] + static_cast<U64>(op.imm);
  const auto space = static_cast<Space>(memory_space(op.aux));
  std::byte* const p = host_address(w, space, lane, address, bytes, true);
  const bool misaligned = address % bytes != 0;
  if (p != nullptr && !misaligned) return p;
  fault_access(w, op,
               {.kind = p != nullptr ? FaultKind::misaligned : FaultKind::out_of_bounds,
                .space = space,
                .is_write = true,
                .is_atomic = true,
                .lane = lane,
                .address = address,
                .bytes = bytes});
  return nullptr;
}

// T is the word in memory, F::of(old, b, c) the new value.
template <class T, class F, bool HasSecond>
void atomic(Warp& w, const Op& op) {
  w.turns += 64;  // a loop around an atomic is likely to wait for another lane
  w.slice -= 32;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::byte* const p = locate(w, op, k, sizeof(T));
    if (p == nullptr) return;
    auto* const word = reinterpret_cast<T*>(p);
    const T b = row<T>(w, op.b)[k];
    const T c = HasSecond ? row<T>(w, op.c)[k] : T{};
    T old = __atomic_load_n(word, __ATOMIC_RELAXED);
    T wanted = F::of(old, b, c);
    while (!__atomic_compare_exchange_n(word, &old, wanted, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
      wanted = F::of(old, b, c);
    }
    if (op.d != kNowhere) row<T>(w, op.d)[k] = old;
  }
}

// A handler, and the same for one word elsewhere, which bulk copies do to many.
struct Chosen {
  Handler handler = nullptr;
  AtomicForm::Combine combine = nullptr;
};
template <class T, class F>
void combine(std::byte* at, const std::byte* operand) {
  T b{};
  std::memcpy(&b, operand, sizeof b);
  auto* const word = reinterpret_cast<T*>(at);
  T old = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(word, &old, F::of(old, b, T{}), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
}
template <class T, class F>
constexpr Chosen of() {
  return {&atomic<T, F, false>, &combine<T, F>};
}

struct Add {
  template <class T>
  static T of(T a, T b, T) {
    return static_cast<T>(a + b);
  }
};
struct And {
  template <class T>
  static T of(T a, T b, T) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T of(T a, T b, T) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b, T) {
    return a ^ b;
  }
};
struct Exch {
  template <class T>
  static T of(T, T b, T) {
    return b;
  }
};
struct Cas {
  template <class T>
  static T of(T a, T b, T c) {
    return a == b ? c : a;
  }
};
struct Inc {
  static U32 of(U32 a, U32 b, U32) { return a >= b ? 0 : a + 1; }
};
struct Dec {
  static U32 of(U32 a, U32 b, U32) { return a == 0 || a > b ? b : a - 1; }
};
template <class S>
struct Min {
  template <class T>
  static T of(T a, T b, T) {
    return static_cast<S>(b) < static_cast<S>(a) ? b : a;
  }
};
template <class S>
struct Max {
  template <class T>
  static T of(T a, T b, T) {
    return static_cast<S>(a) < static_cast<S>(b) ? b : a;
  }
};
template <class S>
struct AddFloat {
  template <class T>
  static T of(T a, T b, T) {
    const S sum = std::bit_cast<S>(a) + std::bit_cast<S>(b);
    if constexpr (sizeof(T) == 4) {
      if (sum != sum) return 0x7FFFFFFF;
    }
    return std::bit_cast<T>(sum);
  }
};
template <bool IsMax>
Chosen half_order_handler(Type t) {
  switch (t) {
    case Type::f16:
      return of<U16, OrderHalf<IsMax, &widen_half>>();
    case Type::bf16:
      return of<U16, OrderHalf<IsMax, &widen_bfloat>>();
    case Type::f16x2:
      return of<U32, OfPair<OrderHalf<IsMax, &widen_half>>>();
    case Type::bf16x2:
      return of<U32, OfPair<OrderHalf<IsMax, &widen_bfloat>>>();
    default:
      return {};
  }
}

// Sums of floats in global memory know no subnormal numbers, those in shared memory do.
U32 flushed(U32 v) { return (v & 0x7F80'0000U) == 0 ? v & 0x8000'0000U : v; }
struct AddFlushed {
  static U32 of(U32 a, U32 b, U32) {
    return flushed(AddFloat<float>::of(flushed(a), flushed(b), U32{}));
  }
};
// The lanes whose address is in global memory.
U32 lanes_in_global(Warp& w, const Op& op) {
  const auto space = static_cast<Space>(memory_space(op.aux));
  if (space != Space::generic) return space == Space::global ? w.active : 0;
  U32 global = 0;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const U64 address = row<U64>(w, op.a)[k] + static_cast<U64>(op.imm);
    global |= static_cast<U32>(address < kSharedWindow) << k;
  }
  return global;
}
void add_float(Warp& w, const Op& op) {
  const U32 all = w.active;
  const U32 global = lanes_in_global(w, op);
  if (global == all) return atomic<U32, AddFlushed, false>(w, op);
  if (global == 0) return atomic<U32, AddFloat<float>, false>(w, op);
  w.active = global;
  atomic<U32, AddFlushed, false>(w, op);
  if (w.active != global) return;  // a fault
  w.active = all & ~global;
  atomic<U32, AddFloat<float>, false>(w, op);
  if (w.active == (all & ~global)) w.active = all;
}

template <class F>
Chosen on_width(Type t, bool with16 = false) {
  switch (bits_of(t)) {
    case 16:
      return with16 ? of<U16, F>() : Chosen{};
    case 32:
      return of<U32, F>();
    case 64:
      return of<U64, F>();
    default:
      return {};
  }
}

Chosen add_handler(Type t) {
  switch (t) {
    case Type::u32:
    case Type::s32:
      return of<U32, Add>();
    case Type::u64:
    case Type::s64:
      return of<U64, Add>();
    case Type::f32:
      return {&add_float, &combine<U32, AddFlushed>};
    case Type::f64:
      return of<U64, AddFloat<double>>();
    case Type::f16:
      return of<U16, AddHalf>();
    case Type::f16x2:
      return of<U32, OfPair<AddHalf>>();
    case Type::bf16:
      return of<U16, AddBfloat>();
    case Type::bf16x2:
      return of<U32, OfPair<AddBfloat>>();
    default:
      return {};
  }
}

template <template <class> class F>
Chosen order_handler(Type t) {
  switch (t) {
    case Type::u32:
      return of<U32, F<U32>>();
    case Type::s32:
      return of<U32, F<std::int32_t>>();
    case Type::u64:
      return of<U64, F<U64>>();
    case Type::s64:
      return of<U64, F<std::int64_t>>();
    default:
      return {};
  }
}

// 128 bits, of registers that are two rows each. No instruction of every processor does it at once.
struct Wide {
  U64 low = 0;
  U64 high = 0;
  friend bool operator==(const Wide&, const Wide&) = default;
};
Wide wide_of(Warp& w, std::uint32_t offset, unsigned lane) {
  return {row<U64>(w, offset)[lane], row<U64>(w, offset)[32 + lane]};
}
template <bool Compares>
void wide_exchange(Warp& w, const Op& op) {
  static std::mutex one_at_a_time;  // over all blocks that run now
  w.turns += 64;
  w.slice -= 32;
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::byte* const p = locate(w, op, k, sizeof(Wide));
    if (p == nullptr) return;
    const Wide wanted = wide_of(w, Compares ? op.c : op.b, k);
    const Wide expected = Compares ? wide_of(w, op.b, k) : Wide{};
    Wide old;
    {
      const std::lock_guard lock(one_at_a_time);
      std::memcpy(&old, p, sizeof old);
      if (!Compares || old == expected) std::memcpy(p, &wanted, sizeof wanted);
    }
    if (op.d == kNowhere) continue;
    row<U64>(w, op.d)[k] = old.low;
    row<U64>(w, op.d)[32 + k] = old.high;
  }
}

Handler cas_handler(Type t) {
  switch (bits_of(t)) {
    case 128:
      return &wide_exchange<true>;
    case 16:
      return &atomic<U16, Cas, true>;
    case 32:
      return &atomic<U32, Cas, true>;
    case 64:
      return &atomic<U64, Cas, true>;
    default:
      return nullptr;
  }
}

}  // namespace

bool select_atomic(Form& form, AtomicForm& out) {
  constexpr std::string_view kOperations[] = {"add", "min",  "max", "and", "or",
                                              "xor", "exch", "cas", "inc", "dec"};
  std::string_view operation;
  for (const std::string_view o : kOperations) {
    if (operation.empty() && form.take(o)) operation = o;
  }
  form.take("noftz");
  const Type t = form.take_type();
  const bool is_half = t == Type::f16 || t == Type::bf16 || t == Type::f16x2 || t == Type::bf16x2;
  out.type = t;
  Chosen chosen;
  if (is_half && operation == "min") chosen = half_order_handler<false>(t);
  if (is_half && operation == "max") chosen = half_order_handler<true>(t);
  if (operation == "add") chosen = add_handler(t);
  if (!is_half && operation == "min") chosen = order_handler<Min>(t);
  if (!is_half && operation == "max") chosen = order_handler<Max>(t);
  if (operation == "and" && is_bits(t)) chosen = on_width<And>(t);
  if (operation == "or" && is_bits(t)) chosen = on_width<Or>(t);
  if (operation == "xor" && is_bits(t)) chosen = on_width<Xor>(t);
  if (operation == "exch" && is_bits(t)) chosen = on_width<Exch>(t);
  if (operation == "exch" && t == Type::b128) chosen.handler = &wide_exchange<false>;
  if (operation == "inc" && t == Type::u32) chosen = of<U32, Inc>();
  if (operation == "dec" && t == Type::u32) chosen = of<U32, Dec>();
  out.handler = chosen.handler;
  out.combine = chosen.combine;
  if (operation == "cas" && is_bits(t)) {
    out.handler = cas_handler(t);
    out.has_second = true;
  }
  return out.handler != nullptr;
}

}  // namespace assay::emulator
