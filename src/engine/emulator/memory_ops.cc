// Loads and stores. Addresses of a warp are looked at once: consecutive, all equal or scattered;
// each kind is proven inside one object with as few comparisons as it takes.
#include "engine/emulator/block.h"
#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U64 = unsigned long long;
using U32 = unsigned int;

enum class Pattern { bad, sequential, uniform, scattered };

// Host addresses of one warp access: `base` is lane 0's for sequential (even if lane 0 is off) and
// the common one for uniform; `lanes` for scattered.
struct Places {
  std::uintptr_t base = 0;
  alignas(32) U64 lanes[32];
};

struct Request {
  unsigned bytes = 4;  // per lane, all elements
  Space space = Space::global;
  bool write = false;
};

[[gnu::noinline]] void refuse(Warp& w, const Op& op, const Request& r, unsigned lane, U64 address) {
  const bool misaligned = (address & (r.bytes - 1)) != 0 &&
                          host_address(w, r.space, lane, address, r.bytes, r.write) != nullptr;
  fault_access(w, op,
               {.kind = misaligned ? FaultKind::misaligned : FaultKind::out_of_bounds,
                .space = r.space,
                .is_write = r.write,
                .is_atomic = false,
                .lane = lane,
                .address = address,
                .bytes = r.bytes});
}

// Every lane for itself: any space, any mixture.
[[gnu::noinline]] Pattern resolve_each(Warp& w, const Op& op, const Request& r, const U64* address,
                                       Places& out) {
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::byte* const p = host_address(w, r.space, k, address[k], r.bytes, r.write);
    if (p == nullptr || (address[k] & (r.bytes - 1)) != 0) {
      refuse(w, op, r, k, address[k]);
      return Pattern::bad;
    }
    out.lanes[k] = reinterpret_cast<std::uintptr_t>(p);
  }
  return Pattern::scattered;
}

// The object holding [begin, begin + bytes), remembered per instruction.
ASSAY_INLINE const Object* object_of(Warp& w, const Op& op, U64 begin, U64 bytes, bool write) {
  const std::uint32_t slot = op_pc(w, op) & 255U;
  const Object* o = w.objects + w.hints[slot];
  const bool empty = w.object_count == 0;
  if (empty || begin < o->begin || begin > o->end || o->end - begin < bytes) {
    const std::int32_t i = w.table->find(begin, bytes);
    if (i < 0) return nullptr;
    w.hints[slot] = static_cast<std::uint16_t>(i);
    o = w.objects + i;
  }
  return write && !o->writable ? nullptr : o;
}

ASSAY_INLINE bool all_zero(Chunk<U64> x) {
#ifdef __AVX2__
  const __m256i v = reinterpret_cast<__m256i>(x);
  return _mm256_testz_si256(v, v) != 0;
#else
  return (x[0] | x[1] | x[2] | x[3]) == 0;
#endif
}

struct Addresses {
  Chunk<U64> q[8];
};

ASSAY_INLINE Addresses addresses64(Warp& w, const Op& op) {
  const Chunk<U64>* const row = chunks<U64>(w, op.a);
  const Chunk<U64> imm = splat<U64>(static_cast<U64>(op.imm));
  Addresses a;
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) a.q[q] = row[q] + imm;
  return a;
}

ASSAY_INLINE Pattern classify(const Addresses& a, std::uint32_t active, unsigned bytes, U64& base) {
  const auto first = static_cast<unsigned>(__builtin_ctz(active));
  const U64 at_first = reinterpret_cast<const U64*>(a.q)[first];
  base = at_first - U64{first} * bytes;
  const U64 step = bytes;
  Chunk<U64> expected = Chunk<U64>{0, step, 2 * step, 3 * step} + base;
  const Chunk<U64> uniform = splat<U64>(at_first);
  Chunk<U64> off_line{};
  Chunk<U64> off_point{};
  const bool full = active == kAllLanes;
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) {
    Chunk<U64> line = a.q[q] ^ expected;
    Chunk<U64> point = a.q[q] ^ uniform;
    if (!full) {
      const auto m = reinterpret_cast<Chunk<U64>>(lane_mask<U64>(active, q));
      line &= m;
      point &= m;
    }
    off_line |= line;
    off_point |= point;
    expected += 4 * step;
  }
  if (all_zero(off_line)) return Pattern::sequential;
  if (all_zero(off_point)) {
    base = at_first;
    return Pattern::uniform;
  }
  return Pattern::scattered;
}

// Smallest and largest address of the active lanes. Addresses are below 2^63 or the access is
// refused later, so a signed comparison orders them.
ASSAY_INLINE void bounds(const Addresses& a, std::uint32_t active, U64& low, U64& high, U64& any) {
  using S = long long;
  const auto first = static_cast<unsigned>(__builtin_ctz(active));
  const U64 at_first = reinterpret_cast<const U64*>(a.q)[first];
  Chunk<S> lo = splat<S>(static_cast<S>(at_first));
  Chunk<S> hi = lo;
  Chunk<U64> bits{};
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) {
    const Chunk<S> m = lane_mask<U64>(active, q);
    const Chunk<S> v = m ? reinterpret_cast<Chunk<S>>(a.q[q]) : splat<S>(static_cast<S>(at_first));
    lo = v < lo ? v : lo;
    hi = v > hi ? v : hi;
    bits |= reinterpret_cast<Chunk<U64>>(v);
  }
  low = static_cast<U64>(lo[0]);
  high = static_cast<U64>(hi[0]);
  any = bits[0];
  for (int k = 1; k < 4; ++k) {
    if (static_cast<U64>(lo[k]) < low) low = static_cast<U64>(lo[k]);
    if (static_cast<U64>(hi[k]) > high) high = static_cast<U64>(hi[k]);
    any |= bits[k];
  }
}

// The span [lo, hi + bytes) is translated by adding `delta`.
ASSAY_INLINE Pattern place(const Addresses& a, std::uint32_t active, Pattern pattern, U64 base,
                           U64 delta, Places& out) {
  out.base = base + delta;
  if (pattern == Pattern::scattered) {
    (void)active;
#pragma GCC unroll 8
    for (int q = 0; q < 8; ++q) reinterpret_cast<Chunk<U64>*>(out.lanes)[q] = a.q[q] + delta;
  }
  return pattern;
}

ASSAY_INLINE Pattern resolve_table(Warp& w, const Op& op, const Request& r, Places& out) {
  const Addresses a = addresses64(w, op);
  const std::uint32_t active = w.active;
  U64 base = 0;
  const Pattern pattern = classify(a, active, r.bytes, base);
  U64 low = base;
  U64 high = base;
  U64 bits = base;
  if (pattern == Pattern::sequential) {
    low = base + U64{static_cast<unsigned>(__builtin_ctz(active))} * r.bytes;
    high = base + U64{31U - static_cast<unsigned>(__builtin_clz(active))} * r.bytes;
  } else if (pattern == Pattern::scattered) {
    bounds(a, active, low, high, bits);
  }
  if ((bits & (r.bytes - 1)) == 0) {
    const Object* const o = object_of(w, op, low, high - low + r.bytes, r.write);
    if (o != nullptr && high >= low) {
      return place(a, active, pattern, base, reinterpret_cast<std::uintptr_t>(o->host) - o->begin,
                   out);
    }
  }
  return resolve_each(w, op, r, reinterpret_cast<const U64*>(a.q), out);
}

template <class A>
ASSAY_INLINE Addresses shared_addresses(Warp& w, const Op& op) {
  if constexpr (sizeof(A) == 8) return addresses64(w, op);
  typedef U32 Half __attribute__((vector_size(16), may_alias));
  const auto* const row = reinterpret_cast<const Half*>(w.rows + op.a);
  const auto imm = static_cast<U32>(op.imm);
  Addresses a;
#pragma GCC unroll 8
  for (int q = 0; q < 8; ++q) a.q[q] = __builtin_convertvector(row[q] + imm, Chunk<U64>);
  return a;
}

template <class A>
ASSAY_INLINE Pattern resolve_shared(Warp& w, const Op& op, const Request& r, Places& out) {
  const Addresses a = shared_addresses<A>(w, op);
  const std::uint32_t active = w.active;
  U64 base = 0;
  const Pattern pattern = classify(a, active, r.bytes, base);
  U64 low = base;
  U64 high = base;
  U64 bits = base;
  if (pattern == Pattern::sequential) {
    low = base + U64{static_cast<unsigned>(__builtin_ctz(active))} * r.bytes;
    high = base + U64{31U - static_cast<unsigned>(__builtin_clz(active))} * r.bytes;
  } else if (pattern == Pattern::scattered) {
    bounds(a, active, low, high, bits);
  }
  const bool inside = low <= high && high < w.shared_bytes && w.shared_bytes - high >= r.bytes;
  if (inside && (bits & (r.bytes - 1)) == 0) {
    return place(a, active, pattern, base, reinterpret_cast<std::uintptr_t>(w.shared), out);
  }
  return resolve_each(w, op, r, reinterpret_cast<const U64*>(a.q), out);
}

template <AddressClass Class>
ASSAY_INLINE Pattern resolve(Warp& w, const Op& op, const Request& r, Places& out) {
  if constexpr (Class == AddressClass::table) {
    return resolve_table(w, op, r, out);
  } else if constexpr (Class == AddressClass::shared32) {
    return resolve_shared<U32>(w, op, r, out);
  } else if constexpr (Class == AddressClass::shared64) {
    return resolve_shared<U64>(w, op, r, out);
  } else {
    const Addresses a = addresses64(w, op);
    return resolve_each(w, op, r, reinterpret_cast<const U64*>(a.q), out);
  }
}

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
