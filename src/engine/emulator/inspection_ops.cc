// What an inspection does with whole vectors: addresses of a warp, their shape, and the marks of
// eight neighbouring granules at once.
#include "engine/emulator/lane_addresses.h"
#include "engine/emulator/lanes.h"
#include "engine/emulator/shadow.h"
#include "engine/emulator/watch.h"

namespace assay::emulator::ASSAY_EMULATOR_ISA {
namespace {

using U64 = unsigned long long;
using U32 = unsigned int;
typedef U32 FourWords __attribute__((vector_size(16), may_alias));

ASSAY_INLINE bool is_zero(Chunk<U64> v) {
#ifdef __AVX2__
  const __m256i x = reinterpret_cast<__m256i>(v);
  return _mm256_testz_si256(x, x) != 0;
#else
  return (v[0] | v[1] | v[2] | v[3]) == 0;
#endif
}

// Unaligned: what is looked at may lie anywhere.
template <class V, class T>
ASSAY_INLINE V load(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class T>
ASSAY_INLINE void store(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

void read_addresses(Warp& w, const Op& op, bool narrow, unsigned bytes, LaneAddresses& out) {
  U64* const to = reinterpret_cast<U64*>(&out.of);
  if (narrow) {
    const auto* const row = reinterpret_cast<const FourWords*>(w.rows + op.a);
    const auto imm = static_cast<U32>(op.imm);
    for (int q = 0; q < 8; ++q) {
      store(to + 4 * q, __builtin_convertvector(row[q] + imm, Chunk<U64>));
    }
  } else {
    const Chunk<U64>* const row = chunks<U64>(w, op.a);
    const Chunk<U64> imm = splat<U64>(static_cast<U64>(op.imm));
    for (int q = 0; q < 8; ++q) store(to + 4 * q, row[q] + imm);
  }
  const U64 step = bytes;
  const Chunk<U64> ramp{0, step, 2 * step, 3 * step};
  unsigned lines = 0;
  unsigned points = 0;
  for (unsigned q = 0; q < kEights; ++q) {
    const Chunk<U64> start = splat<U64>(to[8 * q]);
    const Chunk<U64> a = load<Chunk<U64>>(to + 8 * q) - start;
    const Chunk<U64> b = load<Chunk<U64>>(to + 8 * q + 4) - start;
    lines |= static_cast<unsigned>(is_zero((a ^ ramp) | (b ^ (ramp + 4 * step)))) << q;
    points |= static_cast<unsigned>(is_zero(a | b)) << q;
  }
  out.lines = static_cast<std::uint8_t>(lines);
  out.points = static_cast<std::uint8_t>(points);
}

// T: of an address in its register.
template <class T>
ASSAY_INLINE bool is_shape(Warp& w, const Op& op, const AccessShape& shape) {
  const Chunk<T>* const row = chunks<T>(w, op.a);
  const T* const delta = reinterpret_cast<const T*>(&shape.delta);
  const Chunk<T> start = splat<T>(lanes_of<T>(w, op.a)[shape.first]);
  const bool full = shape.active == kAllLanes;
  Chunk<U64> off{};
#pragma GCC unroll 8
  for (int q = 0; q < kChunks<T>; ++q) {
    Chunk<T> d = (row[q] - start) ^ load<Chunk<T>>(delta + q * kLanes<T>);
    if (!full) d &= reinterpret_cast<Chunk<T>>(lane_mask<T>(shape.active, q));
    off |= reinterpret_cast<Chunk<U64>>(d);
  }
  return is_zero(off);
}

bool repeats(Warp& w, const Op& op, bool narrow, const AccessShape& shape) {
  if (w.active != shape.active) return false;
  return narrow ? is_shape<U32>(w, op, shape) : is_shape<U64>(w, op, shape);
}

template <class T>
ASSAY_INLINE void take_shape(Warp& w, const Op& op, AccessShape& out) {
  const T* const row = lanes_of<T>(w, op.a);
  T* const delta = reinterpret_cast<T*>(&out.delta);
  const T start = row[out.first];
  out.lowest = 0;
  out.highest = 0;
  for (unsigned k = 0; k < 32; ++k) {
    delta[k] = row[k] - start;
    if ((out.active >> k & 1U) == 0) continue;
    const auto d = static_cast<std::int64_t>(static_cast<Signed<T>>(delta[k]));
    if (d < out.lowest) out.lowest = d;
    if (d > out.highest) out.highest = d;
  }
}

void shape(Warp& w, const Op& op, bool narrow, AccessShape& out) {
  out.active = w.active;
  out.lanes = static_cast<unsigned>(__builtin_popcount(w.active));
  out.first = static_cast<unsigned>(__builtin_ctz(w.active));
  if (narrow) {
    take_shape<U32>(w, op, out);
  } else {
    take_shape<U64>(w, op, out);
  }
}

// T: of an address in its register.
template <class T>
[[gnu::noinline]] void count_apart(Warp& w, const Op& op, std::uint64_t leader) {
  const std::uint32_t pc = op_pc(w, op);
  AccessShape& s = *w.shapes[pc];
  if (w.active == s.active && is_shape<T>(w, op, s)) {
    ++s.hits[(lanes_of<T>(w, op.a)[s.first] + static_cast<T>(op.imm)) % 4];
    s.led_by = w.active == kAllLanes ? leader : 0;
  } else {
    w.watch->count(w, op);
  }
  if (anchor_role(op.aux) == AnchorRole::keeps) {
    w.anchors[op.target].access_shape = w.shapes[pc]->number;
  }
}

// A load that follows another has its shape whenever that one has the shape it had before. Its
// addresses are multiples of four, or it would not follow.
template <class T, bool Whole>
void count_shared(Warp& w, const Op& op) {
  const std::uint32_t pc = op_pc(w, op);
  const bool follows = anchor_role(op.aux) == AnchorRole::follows &&
                       (w.anchored >> op.target & 1U) != 0 && w.active == kAllLanes;
  const std::uint64_t leader = follows ? w.anchors[op.target].access_shape : 0;
  AccessShape& s = *w.shapes[pc];
  if (leader != 0 && leader == s.led_by) {
    ++s.hits[0];
  } else {
    count_apart<T>(w, op, leader);
  }
  (Whole ? w.originals[pc].full : w.originals[pc].masked)(w, op);
}

// --- marks ---
struct Marks {
  Chunk<U32> time;
  Chunk<U32> who;
};

ASSAY_INLINE Marks marks_at(const MarkColumn& c, unsigned first) {
  return {load<Chunk<U32>>(c.time.data() + first), load<Chunk<U32>>(c.who.data() + first)};
}
ASSAY_INLINE void put_marks(MarkColumn& c, unsigned first, Chunk<U32> time, Chunk<U32> who) {
  store(c.time.data() + first, time);
  store(c.who.data() + first, who);
}

ASSAY_INLINE Chunk<U32> all_ones_if(Chunk<int> c) { return reinterpret_cast<Chunk<U32>>(c); }

// Lanes whose mark cannot race with the access at hand: none, ordered before it, or its own
// thread's.
ASSAY_INLINE Chunk<U32> settled(const Marks& m, const Marking& now, Chunk<U32> who) {
  const Chunk<U32> none = all_ones_if(m.time == splat<U32>(0));
  const Chunk<U32> ours = all_ones_if(m.time >= splat<U32>(now.since));
  const Chunk<U32> before = all_ones_if(m.time <= splat<U32>(now.settled));
  const Chunk<U32> self = all_ones_if(((m.who ^ who) & kWhoThread) == splat<U32>(0));
  return none | (ours & (now.for_others ? before : before | self));
}

ASSAY_INLINE bool all_set(Chunk<U32> v) { return is_zero(reinterpret_cast<Chunk<U64>>(~v)); }

// Where the access at hand takes the place of an earlier read: by its own warp, or of none.
ASSAY_INLINE Chunk<U32> replaces(const Marks& m, const Marking& now, Chunk<U32> who) {
  const Chunk<U32> none = all_ones_if(m.time == splat<U32>(0));
  const Chunk<U32> ours = all_ones_if(m.time >= splat<U32>(now.since));
  const Chunk<U32> same = all_ones_if(((m.who ^ who) & kWhoReader) == splat<U32>(0));
  return none | (ours & same);
}

ASSAY_INLINE void note_reads(GranulePage& page, unsigned first, const Marking& now,
                             Chunk<U32> who) {
  const Marks a = marks_at(page.reads[0], first);
  const Marks b = marks_at(page.reads[1], first);
  const Chunk<U32> time = splat<U32>(now.time);
  const Chunk<U32> to_a = replaces(a, now, who);
  if (all_set(to_a)) {
    put_marks(page.reads[0], first, time, who);
    return;
  }
  const Chunk<U32> to_b = ~to_a & replaces(b, now, who);
  const Chunk<U32> shift = ~(to_a | to_b);
  put_marks(page.reads[0], first, (to_a & time) | (to_b & a.time) | (shift & b.time),
            (to_a & who) | (to_b & a.who) | (shift & b.who));
  put_marks(page.reads[1], first, (to_a & b.time) | (~to_a & time), (to_a & b.who) | (~to_a & who));
}

ASSAY_INLINE Chunk<U32> all_settled(const GranulePage& page, unsigned first, const Marking& now,
                                    Chunk<U32> who) {
  Chunk<U32> good = settled(marks_at(page.write, first), now, who) &
                    settled(marks_at(page.atomic, first), now, who);
  if (now.write) {
    good &= settled(marks_at(page.reads[0], first), now, who) &
            settled(marks_at(page.reads[1], first), now, who);
  }
  return good;
}

// All but the last write.
ASSAY_INLINE void forget(GranulePage& page, unsigned first) {
  const Chunk<U32> zero{};
  store(page.atomic.time.data() + first, zero);
  store(page.reads[0].time.data() + first, zero);
  store(page.reads[1].time.data() + first, zero);
}

bool mark_eight(GranulePage& page, unsigned first, const Marking& now, std::uint32_t lane,
                unsigned granules_of_lane) {
  constexpr Chunk<U32> kOne{0, 1, 2, 3, 4, 5, 6, 7};
  constexpr Chunk<U32> kTwo{0, 0, 1, 1, 2, 2, 3, 3};
  constexpr Chunk<U32> kFour{0, 0, 0, 0, 1, 1, 1, 1};
  const Chunk<U32> ramp = granules_of_lane == 1 ? kOne : granules_of_lane == 2 ? kTwo : kFour;
  const Chunk<U32> who = ramp + splat<U32>((now.who & ~kWhoLane) + lane);
  Chunk<U32> good = all_settled(page, first, now, who);
  for (const GranulePage* p = page.beside.get(); p != nullptr; p = p->beside.get()) {
    good &= all_settled(*p, first, now, who);
  }
  if (!all_set(good)) return false;
  if (!now.write) {
    note_reads(page, first, now, who);
    return true;
  }
  forget(page, first);
  for (GranulePage* p = page.beside.get(); p != nullptr; p = p->beside.get()) {
    forget(*p, first);
    store(p->write.time.data() + first, Chunk<U32>{});
  }
  put_marks(page.write, first, splat<U32>(now.time), who);
  return true;
}

}  // namespace

const InspectionSet kInspectionSet{
    .read = &read_addresses,
    .repeats = &repeats,
    .shape = &shape,
    .count_shared = {&count_shared<U32, true>, &count_shared<U32, false>},
    .count_shared_wide = {&count_shared<U64, true>, &count_shared<U64, false>},
    .mark_eight = &mark_eight};

}  // namespace assay::emulator::ASSAY_EMULATOR_ISA
