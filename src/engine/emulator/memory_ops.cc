// Loads and stores of every width and space.
#include "engine/emulator/places.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

ASSAY_INLINE std::uint32_t data_row(const Op& op, unsigned element) {
  return element == 0 ? op.d : element == 1 ? op.b : element == 2 ? op.c : op.e;
}

template <class M, bool Sync>
ASSAY_INLINE M read(std::uintptr_t p) {
  typedef M Aliased __attribute__((may_alias));
  if constexpr (Sync) return __atomic_load_n(reinterpret_cast<Aliased*>(p), __ATOMIC_SEQ_CST);
  return *reinterpret_cast<Aliased*>(p);
}

template <class M, bool Sync>
ASSAY_INLINE void write(std::uintptr_t p, M v) {
  typedef M Aliased __attribute__((may_alias));
  if constexpr (Sync) {
    __atomic_store_n(reinterpret_cast<Aliased*>(p), v, __ATOMIC_SEQ_CST);
  } else {
    *reinterpret_cast<Aliased*>(p) = v;
  }
}

// M: in memory, with the sign that widens it; R: the register's lane.
template <class M, class R, AddressClass Class, bool Sync>
void load(Warp& w, const Op& op) {
  const unsigned n = memory_elements(op.aux);
  const Request r{.bytes = static_cast<unsigned>(sizeof(M)) * n,
                  .space = static_cast<Space>(memory_space(op.aux))};
  if constexpr (Sync) {  // a loop that polls memory should give way
    w.turns += 64;
    w.slice -= Class == AddressClass::table ? 1024 : 64;
  }
  Places at;
  const Pattern pattern = resolve<Class>(w, op, r, at);
  const std::uint32_t active = w.active;
  if (pattern == Pattern::bad) return;
  if (pattern == Pattern::sequential && n == 1 && active == kAllLanes && !Sync) {
    R* const d = lanes_of<R>(w, op.d);
    typedef M Aliased __attribute__((may_alias));
    const auto* const p = reinterpret_cast<const Aliased*>(at.base);
    if constexpr (sizeof(M) == sizeof(R)) {
      __builtin_memcpy(d, p, 32 * sizeof(M));
    } else {
      for (int k = 0; k < 32; ++k) d[k] = static_cast<R>(p[k]);
    }
    return;
  }
  const bool uniform = pattern == Pattern::uniform;
  for (unsigned j = 0; j < n; ++j) {
    R* const d = lanes_of<R>(w, data_row(op, j));
    const std::uintptr_t base = at.base + j * sizeof(M);
    if (uniform) {
      const R v = static_cast<R>(read<M, Sync>(base));
      if (active == kAllLanes) {
        for (int k = 0; k < 32; ++k) d[k] = v;
      } else {
        for (std::uint32_t m = active; m != 0; m &= m - 1) d[__builtin_ctz(m)] = v;
      }
    } else if (pattern == Pattern::sequential) {
      for (std::uint32_t m = active; m != 0; m &= m - 1) {
        const auto k = static_cast<unsigned>(__builtin_ctz(m));
        d[k] = static_cast<R>(read<M, Sync>(base + k * r.bytes));
      }
    } else if (active == kAllLanes) {
      for (int k = 0; k < 32; ++k) {
        d[k] = static_cast<R>(read<M, Sync>(at.lanes[k] + j * sizeof(M)));
      }
    } else {
      for (std::uint32_t m = active; m != 0; m &= m - 1) {
        const int k = __builtin_ctz(m);
        d[k] = static_cast<R>(read<M, Sync>(at.lanes[k] + j * sizeof(M)));
      }
    }
  }
}

template <class M, class R, AddressClass Class, bool Sync>
void store(Warp& w, const Op& op) {
  const unsigned n = memory_elements(op.aux);
  const Request r{.bytes = static_cast<unsigned>(sizeof(M)) * n,
                  .space = static_cast<Space>(memory_space(op.aux)),
                  .write = true};
  Places at;
  const Pattern pattern = resolve<Class>(w, op, r, at);
  const std::uint32_t active = w.active;
  if (pattern == Pattern::bad) return;
  if (pattern == Pattern::sequential && n == 1 && active == kAllLanes && !Sync) {
    const R* const s = lanes_of<R>(w, op.d);
    typedef M Aliased __attribute__((may_alias));
    auto* const p = reinterpret_cast<Aliased*>(at.base);
    if constexpr (sizeof(M) == sizeof(R)) {
      __builtin_memcpy(p, s, 32 * sizeof(M));
    } else {
      for (int k = 0; k < 32; ++k) p[k] = static_cast<M>(s[k]);
    }
    return;
  }
  // Lanes in order: of several that write one place the last wins, every time the same.
  for (unsigned j = 0; j < n; ++j) {
    const R* const s = lanes_of<R>(w, data_row(op, j));
    for (std::uint32_t m = active; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const std::uintptr_t p = pattern == Pattern::scattered    ? at.lanes[k]
                               : pattern == Pattern::sequential ? at.base + k * r.bytes
                                                                : at.base;
      write<M, Sync>(p + j * sizeof(M), static_cast<M>(s[k]));
    }
  }
}

// ld.param in an entry: the same bytes for every lane, bounds known when decoded but for the end.
template <class M, class R>
void load_kernel_param(Warp& w, const Op& op) {
  const unsigned n = memory_elements(op.aux);
  const auto offset = static_cast<std::uint64_t>(op.imm);
  if (offset + n * sizeof(M) > w.parameter_bytes) {
    refuse(w, op, {.bytes = static_cast<unsigned>(n * sizeof(M)), .space = Space::param},
           static_cast<unsigned>(__builtin_ctz(w.active)), offset);
    return;
  }
  for (unsigned j = 0; j < n; ++j) {
    M v;
    __builtin_memcpy(&v, w.parameters + offset + j * sizeof(M), sizeof(M));
    R* const d = lanes_of<R>(w, data_row(op, j));
    if (w.active == kAllLanes) {
      for (int k = 0; k < 32; ++k) d[k] = static_cast<R>(v);
    } else {
      for (std::uint32_t m = w.active; m != 0; m &= m - 1) d[__builtin_ctz(m)] = static_cast<R>(v);
    }
  }
}

ASSAY_INLINE std::byte* word_at(Warp& w, const Op& op, unsigned lane, std::uint64_t byte) {
  return w.rows + op.a + byte / 4 * 128 + lane * 4 + byte % 4;
}

// Parameters of a .func: words in the frame. Elements of 8 bytes are two rows.
template <class M, class R, bool IsLoad>
void frame_words(Warp& w, const Op& op) {
  const unsigned n = memory_elements(op.aux);
  for (unsigned j = 0; j < n; ++j) {
    R* const row = lanes_of<R>(w, data_row(op, j));
    const auto at = static_cast<std::uint64_t>(op.imm) + j * sizeof(M);
    for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      constexpr unsigned kPart = sizeof(M) < 4 ? sizeof(M) : 4;
      M v{};
      if constexpr (!IsLoad) v = static_cast<M>(row[k]);
      for (unsigned i = 0; i < sizeof(M); i += kPart) {
        std::byte* const p = word_at(w, op, k, at + i);
        if constexpr (IsLoad) {
          __builtin_memcpy(reinterpret_cast<char*>(&v) + i, p, kPart);
        } else {
          __builtin_memcpy(p, reinterpret_cast<const char*>(&v) + i, kPart);
        }
      }
      if constexpr (IsLoad) row[k] = static_cast<R>(v);
    }
  }
}

template <class M, class R, bool IsLoad, AddressClass Class>
Handlers pick_sync(const MemoryForm& f) {
  if constexpr (IsLoad) {
    return both(f.synchronising ? &load<M, R, Class, true> : &load<M, R, Class, false>);
  } else {
    return both(f.synchronising ? &store<M, R, Class, true> : &store<M, R, Class, false>);
  }
}

template <class M, class R, bool IsLoad>
Handlers pick_class(const MemoryForm& f) {
  switch (f.address) {
    case AddressClass::table:
      return pick_sync<M, R, IsLoad, AddressClass::table>(f);
    case AddressClass::shared32:
      return pick_sync<M, R, IsLoad, AddressClass::shared32>(f);
    case AddressClass::shared64:
      return pick_sync<M, R, IsLoad, AddressClass::shared64>(f);
    case AddressClass::slow:
      return pick_sync<M, R, IsLoad, AddressClass::slow>(f);
    case AddressClass::frame_words:
      return both(&frame_words<M, R, IsLoad>);
    case AddressClass::kernel_params:
      if constexpr (IsLoad) return both(&load_kernel_param<M, R>);
  }
  return {};
}

// Stores truncate, so the sign of M matters to loads only.
template <class M, bool IsLoad>
Handlers pick_row(const MemoryForm& f) {
  if constexpr (sizeof(M) <= 2) {
    if (f.row_bytes == 2) return pick_class<M, Unsigned<short>, IsLoad>(f);
  }
  if constexpr (sizeof(M) <= 4) {
    if (f.row_bytes == 4) return pick_class<M, U32, IsLoad>(f);
  }
  if (f.row_bytes == 8) return pick_class<M, U64, IsLoad>(f);
  return {};
}

}  // namespace

void general_load_words(Warp& w, const Op& op, AddressClass address) {
  if (address == AddressClass::table) {
    load<U32, U32, AddressClass::table, false>(w, op);
  } else if (address == AddressClass::shared64) {
    load<U32, U32, AddressClass::shared64, false>(w, op);
  } else {
    load<U32, U32, AddressClass::shared32, false>(w, op);
  }
}

void general_store_words(Warp& w, const Op& op, AddressClass address) {
  if (address == AddressClass::table) {
    store<U32, U32, AddressClass::table, false>(w, op);
  } else if (address == AddressClass::shared64) {
    store<U32, U32, AddressClass::shared64, false>(w, op);
  } else {
    store<U32, U32, AddressClass::shared32, false>(w, op);
  }
}

Handlers select_load(const MemoryForm& f) {
  if (const Handlers words = select_words(f, true); words.full != nullptr) return words;
  switch (f.type) {
    case Type::s8:
      return pick_row<signed char, true>(f);
    case Type::s16:
      return pick_row<short, true>(f);
    case Type::s32:
      return pick_row<int, true>(f);
    default:
      break;
  }
  switch (bytes_of(f.type)) {
    case 1:
      return pick_row<unsigned char, true>(f);
    case 2:
      return pick_row<unsigned short, true>(f);
    case 4:
      return pick_row<U32, true>(f);
    case 8:
      return pick_row<U64, true>(f);
    default:
      return {};
  }
}

Handlers select_store(const MemoryForm& f) {
  if (const Handlers words = select_words(f, false); words.full != nullptr) return words;
  switch (bytes_of(f.type)) {
    case 1:
      return pick_row<unsigned char, false>(f);
    case 2:
      return pick_row<unsigned short, false>(f);
    case 4:
      return pick_row<U32, false>(f);
    case 8:
      return pick_row<U64, false>(f);
    default:
      return {};
  }
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
