// Loads and stores of 32-bit words by whole warps, eight lanes at a time. Threads of a tile rarely
// make one straight line of addresses, but eight neighbours nearly always do, or all read the same
// word. Whatever is unusual (lanes off, an access that is not inside one object, not aligned) is
// left, untouched, to the general handlers.
#include "engine/emulator/lanes.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U64 = unsigned long long;
using S64 = long long;
using U32 = unsigned int;

constexpr int kGroups = 4;  // of eight lanes

// Where the lanes' accesses begin, from one host address on. Proven to be inside.
struct Offsets {
  Chunk<U32> group[kGroups];
  std::byte* base = nullptr;
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

ASSAY_INLINE std::uint32_t data_row(const Op& op, unsigned element) {
  return element == 0 ? op.d : element == 1 ? op.b : element == 2 ? op.c : op.e;
}

typedef U32 Word __attribute__((may_alias));

ASSAY_INLINE const Word* word_at(const std::byte* base, U32 offset) {
  return reinterpret_cast<const Word*>(base + offset);
}
ASSAY_INLINE Word* word_at(std::byte* base, U32 offset) {
  return reinterpret_cast<Word*>(base + offset);
}

ASSAY_INLINE Chunk<U32> gather(const std::byte* base, Chunk<U32> offsets) {
#ifdef __AVX2__
  return reinterpret_cast<Chunk<U32>>(_mm256_i32gather_epi32(
      reinterpret_cast<const int*>(base), reinterpret_cast<__m256i>(offsets), 1));
#else
  Chunk<U32> v{};
  for (int k = 0; k < 8; ++k) v[k] = *word_at(base, offsets[k]);
  return v;
#endif
}

template <class V>
ASSAY_INLINE V unaligned(const std::byte* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <int N>
ASSAY_INLINE bool is_uniform(Chunk<U32> offsets) {
  return is_zero<U32>(offsets ^ splat<U32>(offsets[0]));
}
template <int N>
ASSAY_INLINE bool is_line(Chunk<U32> offsets) {
  constexpr U32 kStep = 4 * N;
  const Chunk<U32> ramp{0, kStep, 2 * kStep, 3 * kStep, 4 * kStep, 5 * kStep, 6 * kStep, 7 * kStep};
  return is_zero<U32>(offsets ^ (ramp + offsets[0]));
}

// Eight words, each `step` bytes after the one before it, or before it: an extraction of eight
// offsets less than a gather needs.
ASSAY_INLINE Chunk<U32> spaced(const std::byte* p, S64 step) {
  const auto at = [&](S64 k) { return *reinterpret_cast<const Word*>(p + k * step); };
  return Chunk<U32>{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
}

ASSAY_INLINE bool is_spaced(Chunk<U32> offsets, U32 step) {
  constexpr Chunk<U32> kRamp{0, 1, 2, 3, 4, 5, 6, 7};
  return is_zero<U32>(offsets ^ (kRamp * step + offsets[0]));
}

// An earlier eight of the warp that reads the same words: the rows of a tile's columns do.
ASSAY_INLINE int same_eight(const Offsets& at, int q) {
  if (q >= 2 && is_zero<U32>(at.group[q] ^ at.group[q - 2])) return q - 2;
  return -1;
}

// N: words of one lane.
template <AddressClass Class, int N>
void load_words(Warp& w, const Op& op) {
  Offsets at;
  if (!find_offsets<Class>(w, op, 4 * N, false, at)) {
    general_load_words(w, op, Class);
    return;
  }
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    const Chunk<U32> offsets = at.group[q];
    if (is_uniform<N>(offsets)) {
      for (unsigned j = 0; j < N; ++j) {
        chunks<U32>(w, data_row(op, j))[q] = splat<U32>(*word_at(at.base, offsets[0] + 4 * j));
      }
    } else if (N == 1 && is_line<N>(offsets)) {
      chunks<U32>(w, op.d)[q] = unaligned<Chunk<U32>>(at.base + offsets[0]);
    } else if (const int p = same_eight(at, q); p >= 0) {
      for (unsigned j = 0; j < N; ++j) {
        Chunk<U32>* const d = chunks<U32>(w, data_row(op, j));
        d[q] = d[p];
      }
    } else if (const U32 step = offsets[1] - offsets[0]; is_spaced(offsets, step)) {
      for (unsigned j = 0; j < N; ++j) {
        chunks<U32>(w, data_row(op, j))[q] =
            spaced(at.base + offsets[0] + 4 * j, static_cast<int>(step));
      }
    } else {
      for (unsigned j = 0; j < N; ++j) {
        chunks<U32>(w, data_row(op, j))[q] = gather(at.base, offsets + 4 * j);
      }
    }
  }
}

// Lanes in order: of several that write one place the last wins.
template <AddressClass Class, int N>
void store_words(Warp& w, const Op& op) {
  Offsets at;
  if (!find_offsets<Class>(w, op, 4 * N, true, at)) {
    general_store_words(w, op, Class);
    return;
  }
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    const Chunk<U32> offsets = at.group[q];
    if (N == 1 && is_line<N>(offsets)) {
      __builtin_memcpy(at.base + offsets[0], chunks<U32>(w, op.d) + q, 32);
      continue;
    }
    for (unsigned j = 0; j < N; ++j) {
      const U32* const s = lanes_of<U32>(w, data_row(op, j)) + 8 * q;
      for (int k = 0; k < 8; ++k) *word_at(at.base, offsets[k] + 4 * j) = s[k];
    }
  }
}

template <AddressClass Class>
Handlers pick(unsigned elements, bool is_load) {
  switch (elements) {
    case 1:
      return both(is_load ? &load_words<Class, 1> : &store_words<Class, 1>);
    case 2:
      return both(is_load ? &load_words<Class, 2> : &store_words<Class, 2>);
    case 4:
      return both(is_load ? &load_words<Class, 4> : &store_words<Class, 4>);
    default:
      return {};
  }
}

}  // namespace

Handlers select_words(const MemoryForm& f, bool is_load) {
#ifndef __AVX2__
  // Without vectors of eight words this is no gain.
  if (f.elements != 0) return {};
#endif
  const bool words = bytes_of(f.type) == 4 && f.row_bytes == 4 && !f.synchronising;
  if (words && f.address == AddressClass::table) {
    return pick<AddressClass::table>(f.elements, is_load);
  }
  if (words && f.address == AddressClass::shared64) {
    return pick<AddressClass::shared64>(f.elements, is_load);
  }
  if (words && f.address == AddressClass::shared32) {
    return pick<AddressClass::shared32>(f.elements, is_load);
  }
  return {};
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
