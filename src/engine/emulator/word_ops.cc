// Loads and stores of 32-bit words by whole warps, eight lanes at a time. Threads of a tile rarely
// make one straight line of addresses, but eight neighbours nearly always do, or all read the same
// word. Whatever is unusual (lanes off, an access that is not inside one object, not aligned) is
// left, untouched, to the general handlers.
#include "engine/emulator/word_places.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

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

// Eight words 16 bytes apart, as the columns of tiles of four are, out of the 128 bytes they lie
// in.
ASSAY_INLINE Chunk<U32> column(const std::byte* p) {
#ifdef __AVX2__
  const auto line = [&](int i) { return unaligned<__m256>(p + 32 * i); };
  const __m256 low = _mm256_unpacklo_ps(line(0), line(1));
  const __m256 high = _mm256_unpacklo_ps(line(2), line(3));
  const __m256 evens_and_odds = _mm256_shuffle_ps(low, high, 0x44);
  return reinterpret_cast<Chunk<U32>>(
      _mm256_permutevar8x32_ps(evens_and_odds, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
#else
  return spaced(p, 16);
#endif
}

// What eight lanes load, N words each, from offsets that lie as `S` says.
template <EightShape S, int N>
ASSAY_INLINE void load_eight(Warp& w, const Op& op, int q, const std::byte* base,
                             const Word* offset) {
  for (unsigned j = 0; j < N; ++j) {
    Chunk<U32>* const d = chunks<U32>(w, data_row(op, j));
    const std::byte* const p = base + 4 * j;
    if constexpr (S == EightShape::point) d[q] = splat<U32>(*word_at(p, offset[0]));
    if constexpr (S == EightShape::line) d[q] = unaligned<Chunk<U32>>(p + offset[0]);
    if constexpr (S == EightShape::repeated) d[q] = d[q - 2];
    if constexpr (S == EightShape::column) d[q] = column(p + offset[0]);
    if constexpr (S == EightShape::spaced) {
      d[q] = spaced(p + offset[0], static_cast<int>(offset[1] - offset[0]));
    }
    if constexpr (S == EightShape::scattered) {
      d[q] = gather(p, unaligned<Chunk<U32>>(reinterpret_cast<const std::byte*>(offset)));
    }
  }
}

template <int N>
ASSAY_INLINE void load_shape(Warp& w, const Op& op, EightShape shape, int q, const std::byte* base,
                             const Word* offset) {
  switch (shape) {
    case EightShape::point:
      return load_eight<EightShape::point, N>(w, op, q, base, offset);
    case EightShape::line:
      return load_eight<EightShape::line, N>(w, op, q, base, offset);
    case EightShape::repeated:
      return load_eight<EightShape::repeated, N>(w, op, q, base, offset);
    case EightShape::column:
      return load_eight<EightShape::column, N>(w, op, q, base, offset);
    case EightShape::spaced:
      return load_eight<EightShape::spaced, N>(w, op, q, base, offset);
    case EightShape::scattered:
      return load_eight<EightShape::scattered, N>(w, op, q, base, offset);
  }
}

template <AddressClass Class, int N>
ASSAY_INLINE EightShape shape_of(const Offsets& at, int q) {
  const Chunk<U32> offsets = at.group[q];
  if (is_uniform<N>(offsets)) return EightShape::point;
  if (N == 1 && is_line<N>(offsets)) return EightShape::line;
  // The rows of a tile's columns.
  if (q >= 2 && is_zero<U32>(offsets ^ at.group[q - 2])) return EightShape::repeated;
  const U32 step = offsets[1] - offsets[0];
  if (!is_spaced(offsets, step)) return EightShape::scattered;
  // Read together with their neighbours: in memory that other blocks write to, not for free.
  constexpr bool kIsShared = Class != AddressClass::table;
  return kIsShared && step == 16 ? EightShape::column : EightShape::spaced;
}

constexpr U32 four_times(EightShape s) { return static_cast<U32>(s) * 0x01010101U; }
constexpr U32 twice(EightShape a, EightShape b) {
  return static_cast<U32>(a) * 0x0101U + static_cast<U32>(b) * 0x01010000U;
}

ASSAY_INLINE U32 least(Chunk<U32> v) {
  U32 r = v[0];
  for (int k = 1; k < 8; ++k) r = v[k] < r ? v[k] : r;
  return r;
}
ASSAY_INLINE U32 greatest(Chunk<U32> v) {
  U32 r = v[0];
  for (int k = 1; k < 8; ++k) r = v[k] > r ? v[k] : r;
  return r;
}

ASSAY_INLINE void keep(Warp& w, const Op& op, const Offsets& at, U32 shapes) {
  Anchor& a = w.anchors[op.target];
  Chunk<U32> low = at.group[0];
  Chunk<U32> high = at.group[0];
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    const Chunk<U32> v = at.group[q];
    reinterpret_cast<Chunk<U32>*>(&a.offset)[q] = v;
    low = v < low ? v : low;
    high = v > high ? v : high;
  }
  a.base = at.base;
  a.imm = op.imm;
  a.last = at.last;
  a.lowest = least(low);
  a.highest = greatest(high);
  a.shapes = shapes;
  w.anchored |= 1U << op.target;
}

// False: nothing was kept, or this load is not inside what was.
template <int N>
ASSAY_INLINE bool load_by_anchor(Warp& w, const Op& op) {
  const Anchor& a = w.anchors[op.target];
  const S64 shift = op.imm - a.imm;
  if ((w.anchored >> op.target & 1U) == 0 || w.active != kAllLanes) return false;
  if (a.lowest + static_cast<U64>(shift) > a.last) return false;
  if (a.highest + static_cast<U64>(shift) > a.last) return false;
  const std::byte* const base = a.base + shift;
  const auto* const offset = reinterpret_cast<const Word*>(&a.offset);
  const U32 shapes = a.shapes;
  if (shapes == four_times(EightShape::point)) {
#pragma GCC unroll 4
    for (int q = 0; q < kGroups; ++q) {
      load_eight<EightShape::point, N>(w, op, q, base, offset + 8 * q);
    }
  } else if (N == 1 && shapes == four_times(EightShape::line)) {
#pragma GCC unroll 4
    for (int q = 0; q < kGroups; ++q) {
      load_eight<EightShape::line, N>(w, op, q, base, offset + 8 * q);
    }
  } else if (N == 1 && shapes == twice(EightShape::column, EightShape::repeated)) {
    Chunk<U32>* const d = chunks<U32>(w, op.d);
    d[0] = d[2] = column(base + offset[0]);
    d[1] = d[3] = column(base + offset[8]);
  } else {
    for (int q = 0; q < kGroups; ++q) {
      load_shape<N>(w, op, static_cast<EightShape>(shapes >> 8 * q & 0xFF), q, base,
                    offset + 8 * q);
    }
  }
  return true;
}

// N: words of one lane. False: it was left to the general handler, which may have raised an event.
template <AddressClass Class, int N, bool Keeps>
[[gnu::noinline]] bool load_words(Warp& w, const Op& op) {
  if constexpr (Keeps) w.anchored &= ~(1U << op.target);
  Offsets at;
  if (!find_offsets<Class>(w, op, 4 * N, false, at)) {
    general_load_words(w, op, Class);
    return false;
  }
  U32 shapes = 0;
#pragma GCC unroll 4
  for (int q = 0; q < kGroups; ++q) {
    const EightShape s = shape_of<Class, N>(at, q);
    shapes |= static_cast<U32>(s) << 8 * q;
    load_shape<N>(w, op, s, q, at.base, reinterpret_cast<const Word*>(at.group + q));
  }
  if constexpr (Keeps) keep(w, op, at, shapes);
  return true;
}

template <AddressClass Class, int N>
ASSAY_INLINE bool follow_words(Warp& w, const Op& op) {
  return load_by_anchor<N>(w, op) || load_words<Class, N, false>(w, op);
}

// Lanes in order: of several that write one place the last wins.
template <AddressClass Class, int N>
[[gnu::noinline]] bool store_words(Warp& w, const Op& op) {
  Offsets at;
  if (!find_offsets<Class>(w, op, 4 * N, true, at)) {
    general_store_words(w, op, Class);
    return false;
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
  return true;
}

using Access = bool (*)(Warp&, const Op&);

template <Access A>
void alone(Warp& w, const Op& op) {
  A(w, op);
}
template <Access A>
void and_next(Warp& w, const Op& op) {
  if (A(w, op)) go_on(w, op);
}
template <Access A>
constexpr Handlers handlers() {
  return {&and_next<A>, &alone<A>};
}

template <AddressClass Class, int N>
Handlers pick_role(AnchorRole role) {
  switch (role) {
    case AnchorRole::none:
      return handlers<&load_words<Class, N, false>>();
    case AnchorRole::keeps:
      return handlers<&load_words<Class, N, true>>();
    case AnchorRole::follows:
      return handlers<&follow_words<Class, N>>();
  }
  return {};
}

template <AddressClass Class>
Handlers pick(const MemoryForm& f, bool is_load) {
  switch (f.elements) {
    case 1:
      return is_load ? pick_role<Class, 1>(f.anchor) : handlers<&store_words<Class, 1>>();
    case 2:
      return is_load ? pick_role<Class, 2>(f.anchor) : handlers<&store_words<Class, 2>>();
    case 4:
      return is_load ? pick_role<Class, 4>(f.anchor) : handlers<&store_words<Class, 4>>();
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
  if (!moves_words(f)) return {};
  if (f.address == AddressClass::table) return pick<AddressClass::table>(f, is_load);
  if (f.address == AddressClass::shared64) return pick<AddressClass::shared64>(f, is_load);
  return pick<AddressClass::shared32>(f, is_load);
}

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
