// Where the words of a whole warp's access lie, eight lanes at a time: offsets from one host
// address, proven to be inside one object and aligned. For *_ops.cc only.
#pragma once

#include "engine/emulator/anchor.h"
#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {

using U64 = unsigned long long;
using S64 = long long;
using U32 = unsigned int;

constexpr int kGroups = 4;  // of eight lanes

// Where the lanes' accesses begin, from one host address on. Proven to be inside.
struct Offsets {
  Chunk<U32> group[kGroups];
  std::byte* base = nullptr;
  U64 last = 0;  // the greatest that is still inside
};

template <class T>
ASSAY_INLINE bool is_zero(Chunk<T> v) {
#ifdef __AVX2__
  const __m256i x = reinterpret_cast<__m256i>(v);
  return _mm256_testz_si256(x, x) != 0;
#else
  const Chunk<U64> x = reinterpret_cast<Chunk<U64>>(v);
  return (x[0] | x[1] | x[2] | x[3]) == 0;
#endif
}

ASSAY_INLINE bool shared_offsets(Warp& w, const Op& op, unsigned bytes, Offsets& out) {
  if (w.shared_bytes < bytes) return false;
  const Chunk<U32>* const row = chunks<U32>(w, op.a);
  const Chunk<U32> imm = splat<U32>(static_cast<U32>(op.imm));
  const Chunk<U32> last = splat<U32>(static_cast<U32>(w.shared_bytes - bytes));
  const Chunk<U32> below = splat<U32>(bytes - 1);
  Chunk<U32> bad{};
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    const Chunk<U32> a = row[q] + imm;
    bad |= reinterpret_cast<Chunk<U32>>(a > last) | (a & below);
    out.group[q] = a;
  }
  out.base = w.shared;
  out.last = w.shared_bytes - bytes;
  return is_zero<U32>(bad);
}

// Two vectors of 64-bit offsets, all below 2^32, as one of 32-bit offsets.
ASSAY_INLINE Chunk<U32> narrowed(Chunk<U64> low, Chunk<U64> high) {
  const auto a = reinterpret_cast<Chunk<U32>>(low);
  const auto b = reinterpret_cast<Chunk<U32>>(high);
  return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
}

// Memory that lies at [begin, begin + size) on the device.
struct Extent {
  std::byte* host = nullptr;
  U64 begin = 0;
  U64 size = 0;
};

ASSAY_INLINE bool wide_offsets(Warp& w, const Op& op, unsigned bytes, const Extent& extent,
                               Offsets& out) {
  if (extent.size < bytes || extent.size > 0x7FFF'FFFFU) return false;
  const Chunk<U64>* const row = chunks<U64>(w, op.a);
  const Chunk<U64> shift = splat<U64>(static_cast<U64>(op.imm) - extent.begin);
  const Chunk<U64> last = splat<U64>(extent.size - bytes);
  Chunk<U64> outside{};  // the sign bit of a lane: before the first or after the last place
  Chunk<U64> low_bits{};
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    const Chunk<U64> a = row[2 * q] + shift;
    const Chunk<U64> b = row[2 * q + 1] + shift;
    outside |= a | (last - a) | b | (last - b);
    low_bits |= a | b;
    out.group[q] = narrowed(a, b);
  }
  // Memory may begin anywhere: what must be aligned is the address.
  if ((extent.begin & (bytes - 1)) != 0) return false;
  out.base = extent.host;
  out.last = extent.size - bytes;
  return is_zero<U64>((outside >> 63) | (low_bits & splat<U64>(bytes - 1)));
}

// Shared memory by 64-bit registers: offsets that fit 32 bits are told by their upper halves, and
// the rest is done on the lower ones. What the instruction adds goes into the base.
ASSAY_INLINE bool shared_wide_offsets(Warp& w, const Op& op, unsigned bytes, Offsets& out) {
  const auto imm = static_cast<U64>(op.imm);
  if (w.shared_bytes < bytes || imm > w.shared_bytes - bytes) return false;
  const Chunk<U64>* const row = chunks<U64>(w, op.a);
  const Chunk<U32> last = splat<U32>(static_cast<U32>(w.shared_bytes - bytes - imm));
  Chunk<U64> seen{};
  Chunk<U32> bad{};
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    seen |= row[2 * q] | row[2 * q + 1];
    out.group[q] = narrowed(row[2 * q], row[2 * q + 1]);
    bad |= reinterpret_cast<Chunk<U32>>(out.group[q] > last);
  }
  out.base = w.shared + imm;
  out.last = w.shared_bytes - bytes - imm;
  const Chunk<U64> misplaced = (seen >> 32) | ((seen | splat<U64>(imm)) & splat<U64>(bytes - 1));
  return is_zero<U64>(misplaced | reinterpret_cast<Chunk<U64>>(bad));
}

ASSAY_INLINE bool table_offsets(Warp& w, const Op& op, unsigned bytes, bool write, Offsets& out) {
  if (w.object_count == 0) return false;
  const Object* const o = w.objects + w.hints[op_pc(w, op) & 255U];
  if (write && !o->writable) return false;
  return wide_offsets(w, op, bytes, {o->host, o->begin, o->end - o->begin}, out);
}

template <AddressClass Class>
ASSAY_INLINE bool find_offsets(Warp& w, const Op& op, unsigned bytes, bool write, Offsets& out) {
  if (w.active != kAllLanes) return false;
  if constexpr (Class == AddressClass::table) return table_offsets(w, op, bytes, write, out);
  if constexpr (Class == AddressClass::shared64) return shared_wide_offsets(w, op, bytes, out);
  return shared_offsets(w, op, bytes, out);
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
