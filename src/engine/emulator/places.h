// Where a warp's access goes on the host. Its addresses are looked at once: consecutive, all equal
// or scattered; each kind is proven inside one object with as few comparisons as it takes. For
// *_ops.cc only.
#pragma once

#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {

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

[[gnu::noinline]] inline void refuse(Warp& w, const Op& op, const Request& r, unsigned lane,
                                     U64 address) {
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
[[gnu::noinline]] inline Pattern resolve_each(Warp& w, const Op& op, const Request& r,
                                              const U64* address, Places& out) {
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::byte* p = host_address(w, r.space, k, address[k], r.bytes, r.write);
    const bool is_aligned = (address[k] & (r.bytes - 1)) == 0;
    if (p == nullptr && is_aligned && !r.write) {
      p = stray_read(w, op, {.space = r.space, .lane = k, .address = address[k], .bytes = r.bytes});
    }
    if (p == nullptr || !is_aligned) {
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

// The addresses of the active lanes: the first byte of the lowest and of the highest, and `bits`,
// in which every bit is set that is set in one that could be misaligned.
struct Span {
  Pattern pattern;
  U64 base;
  U64 low;
  U64 high;
  U64 bits;
};
ASSAY_INLINE Span span_of(const Addresses& a, std::uint32_t active, unsigned bytes) {
  U64 base = 0;
  const Pattern pattern = classify(a, active, bytes, base);
  Span span{pattern, base, base, base, base};
  if (pattern == Pattern::sequential) {
    span.low = base + U64{static_cast<unsigned>(__builtin_ctz(active))} * bytes;
    span.high = base + U64{31U - static_cast<unsigned>(__builtin_clz(active))} * bytes;
  } else if (pattern == Pattern::scattered) {
    bounds(a, active, span.low, span.high, span.bits);
  }
  return span;
}

ASSAY_INLINE Pattern resolve_table(Warp& w, const Op& op, const Request& r, Places& out) {
  const Addresses a = addresses64(w, op);
  const std::uint32_t active = w.active;
  const Span span = span_of(a, active, r.bytes);
  if ((span.bits & (r.bytes - 1)) == 0) {
    const Object* const o = object_of(w, op, span.low, span.high - span.low + r.bytes, r.write);
    if (o != nullptr && span.high >= span.low) {
      return place(a, active, span.pattern, span.base,
                   reinterpret_cast<std::uintptr_t>(o->host) - o->begin, out);
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
  const Span span = span_of(a, active, r.bytes);
  const bool inside =
      span.low <= span.high && span.high < w.shared_bytes && w.shared_bytes - span.high >= r.bytes;
  if (inside && (span.bits & (r.bytes - 1)) == 0) {
    return place(a, active, span.pattern, span.base, reinterpret_cast<std::uintptr_t>(w.shared),
                 out);
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

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
