// Operations between the lanes of a warp. Each waits until the lanes of its member mask have
// arrived.
#include <array>
#include <string>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

template <class T = std::uint32_t>
T* row(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<T*>(w.rows + offset);
}

// True if the operation may execute. A mask without its caller is an illegal instruction on a
// device, but for a shuffle, which takes place among the lanes that are there (seen on one of
// compute capability 9.0).
bool members_are_here(Warp& w, const Op& op, bool is_shuffle = false) {
  const std::uint32_t* const masks = row(w, op.e);
  std::uint32_t all = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    if ((masks[k] >> k & 1U) == 0 && is_shuffle) {
      if (w.watch != nullptr) w.watch->excluded_caller(w, op, k);
    } else if ((masks[k] >> k & 1U) == 0) {
      fault_simple(w, op, FaultKind::invalid_shuffle, k,
                   "Member mask of a warp-wide operation excludes its caller");
      return false;
    }
    all |= masks[k];
  }
  return gather_members(w, op, all, masks);
}

enum class ShuffleMode { up, down, bfly, idx };

template <ShuffleMode Mode>
void shuffle(Warp& w, const Op& op) {
  if (!members_are_here(w, op, true)) return;
  std::array<std::uint32_t, 32> a;
  __builtin_memcpy(a.data(), w.rows + op.a, sizeof a);
  const std::uint32_t* const b = row(w, op.b);
  const std::uint32_t* const c = row(w, op.c);
  std::uint32_t* const d = row(w, op.d);
  std::uint32_t inside = 0;
  std::array<std::uint8_t, 32> from{};
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const int k = __builtin_ctz(m);
    const int segment = static_cast<int>(c[k] >> 8 & 31U);
    const int clamp = static_cast<int>(c[k] & 31U);
    const int bval = static_cast<int>(b[k] & 31U);
    const int max_lane = (k & segment) | (clamp & ~segment);
    const int min_lane = k & segment;
    int j = k;
    bool in_range = false;
    if constexpr (Mode == ShuffleMode::up) {
      j = k - bval;
      in_range = j >= max_lane;
    } else if constexpr (Mode == ShuffleMode::down) {
      j = k + bval;
      in_range = j <= max_lane;
    } else if constexpr (Mode == ShuffleMode::bfly) {
      j = k ^ bval;
      in_range = j <= max_lane;
    } else {
      j = min_lane | (bval & ~segment);
      in_range = j <= max_lane;
    }
    if (!in_range) j = k;
    const bool is_there = (w.active >> (static_cast<unsigned>(j) & 31U) & 1U) != 0;
    if (w.watch != nullptr && !is_there) {
      w.watch->inactive_shuffle(w, op, static_cast<unsigned>(k), static_cast<unsigned>(j));
    }
    from[static_cast<unsigned>(k)] = static_cast<std::uint8_t>(j & 31);
    // Of a lane that is elsewhere a device answers zero, though no text promises it.
    d[k] = is_there ? a[static_cast<std::size_t>(j) & 31U] : 0;
    inside |= static_cast<std::uint32_t>(in_range) << k;
  }
  if (w.watch != nullptr) w.watch->shuffled(w, op, a, from);
  if (op.target != kNowhere) {
    std::uint32_t& p = predicate(w, op.target);
    p = (p & ~w.active) | inside;
  }
}

template <Vote Kind>
void vote(Warp& w, const Op& op) {
  if (!members_are_here(w, op)) return;
  std::uint32_t values = predicate(w, op.c);
  if (op.aux != 0) values = ~values;
  const std::uint32_t* const masks = row(w, op.e);
  std::uint32_t result = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint32_t members = masks[k] & w.active;
    const std::uint32_t yes = values & members;
    if constexpr (Kind == Vote::ballot) {
      row(w, op.d)[k] = yes;
    } else {
      const bool r = Kind == Vote::all   ? yes == members
                     : Kind == Vote::any ? yes != 0
                                         : yes == members || yes == 0;
      result |= static_cast<std::uint32_t>(r) << k;
    }
  }
  if constexpr (Kind != Vote::ballot) {
    std::uint32_t& p = predicate(w, op.d);
    p = (p & ~w.active) | result;
  }
}

template <class T, bool All>
void match(Warp& w, const Op& op) {
  if (!members_are_here(w, op)) return;
  const T* const a = row<T>(w, op.a);
  const std::uint32_t* const masks = row(w, op.e);
  std::array<std::uint32_t, 32> result{};
  std::uint32_t p_bits = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint32_t members = masks[k] & w.active;
    std::uint32_t same = 0;
    for (std::uint32_t n = members; n != 0; n &= n - 1) {
      const auto j = static_cast<unsigned>(__builtin_ctz(n));
      same |= static_cast<std::uint32_t>(a[j] == a[k]) << j;
    }
    const bool agree = same == members;
    result[k] = All ? (agree ? members : 0) : same;
    p_bits |= static_cast<std::uint32_t>(agree) << k;
  }
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    row(w, op.d)[k] = result[k];
  }
  if (op.target != kNowhere) {
    std::uint32_t& p = predicate(w, op.target);
    p = (p & ~w.active) | p_bits;
  }
}

template <class T, class F>
void redux(Warp& w, const Op& op) {
  if (!members_are_here(w, op)) return;
  std::array<T, 32> result{};
  const T* const a = row<T>(w, op.a);
  const std::uint32_t* const masks = row(w, op.e);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::uint32_t n = masks[k] & w.active;
    T r = a[__builtin_ctz(n)];
    for (n &= n - 1; n != 0; n &= n - 1) r = F::of(r, a[__builtin_ctz(n)]);
    result[k] = r;
  }
  T* const d = row<T>(w, op.d);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    d[k] = result[k];
  }
}

struct Add {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a + b; }
};
struct And {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a & b; }
};
struct Or {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a | b; }
};
struct Xor {
  static std::uint32_t of(std::uint32_t a, std::uint32_t b) { return a ^ b; }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};

Handlers same(Handler h) { return {h, h}; }

}  // namespace

Handlers shuffle_handlers(std::string_view mode) {
  if (mode == "up") return same(&shuffle<ShuffleMode::up>);
  if (mode == "down") return same(&shuffle<ShuffleMode::down>);
  if (mode == "bfly") return same(&shuffle<ShuffleMode::bfly>);
  return same(&shuffle<ShuffleMode::idx>);
}

Handlers vote_handlers(Vote kind) {
  switch (kind) {
    case Vote::all:
      return same(&vote<Vote::all>);
    case Vote::any:
      return same(&vote<Vote::any>);
    case Vote::uniform:
      return same(&vote<Vote::uniform>);
    case Vote::ballot:
      break;
  }
  return same(&vote<Vote::ballot>);
}

Handlers match_handlers(bool all, unsigned bytes) {
  if (bytes == 4)
    return all ? same(&match<std::uint32_t, true>) : same(&match<std::uint32_t, false>);
  return all ? same(&match<std::uint64_t, true>) : same(&match<std::uint64_t, false>);
}

void op_activemask(Warp& w, const Op& op) {
  std::uint32_t* const d = row(w, op.d);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) d[__builtin_ctz(m)] = w.active;
}

Handlers redux_handlers(Form& form, Type& type) {
  using U = std::uint32_t;
  using S = std::int32_t;
  struct Entry {
    std::string_view name;
    Handler on_unsigned;
    Handler on_signed;
    bool on_bits;
  };
  static constexpr Entry kTable[] = {{"add", &redux<U, Add>, &redux<U, Add>, false},
                                     {"min", &redux<U, Min>, &redux<S, Min>, false},
                                     {"max", &redux<U, Max>, &redux<S, Max>, false},
                                     {"and", &redux<U, And>, nullptr, true},
                                     {"or", &redux<U, Or>, nullptr, true},
                                     {"xor", &redux<U, Xor>, nullptr, true}};
  for (const Entry& e : kTable) {
    if (!form.take(e.name)) continue;
    type = form.take_type();
    if (e.on_bits) return type == Type::b32 ? same(e.on_unsigned) : Handlers{};
    if (type == Type::u32) return same(e.on_unsigned);
    if (type == Type::s32) return same(e.on_signed);
  }
  return {};
}

void op_elect(Warp& w, const Op& op) {
  if (!members_are_here(w, op)) return;
  std::uint32_t result = 0;
  const std::uint32_t* const masks = row(w, op.e);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const auto leader = static_cast<std::uint32_t>(__builtin_ctz(masks[k] & w.active));
    if (op.d != kNowhere) row(w, op.d)[k] = leader;
    result |= static_cast<std::uint32_t>(leader == k) << k;
  }
  std::uint32_t& p = predicate(w, op.c);
  p = (p & ~w.active) | result;
}

}  // namespace assay::emulator
