// What a watch makes of an access to memory: whether it was written before it is read, and whether
// an earlier access to the same bytes is ordered before it. Eights of lanes that move as one are
// looked at as one.
#include <algorithm>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxWordsMet = 1U << 20;

// Is an earlier access certain not to race with the one at hand? If not, it takes a closer look.
bool is_settled(const Mark& m, const Marking& now) {
  if (m.time == 0) return true;
  if (m.time < now.since) return false;
  return m.time <= now.settled || ((m.who ^ now.who) & kWhoThread) == 0;
}

// Accesses to other bytes, and atomics among themselves, never race.
bool is_apart(const Mark& m, const Marking& now) {
  return (m.who & now.who & kWhoBytes) == 0 || (m.who & now.who & kWhoAtomic) != 0;
}

}  // namespace

void Watch::access(Warp& w, const Op& op, const WatchedSite& site) {
  if (wanted_.counters) traffic_->note(w, op, site);
  if (!wanted_.memory()) return;
  const unsigned bytes = site.bytes();
  const bool write = site.kind == SiteKind::store;
  set_.read(w, op, site.address == AddressClass::shared32, bytes, addresses_);
  store_ = {.is_store = write,
            .rows = {op.d, op.b, op.c, op.e},
            .row_bytes = site.row_bytes,
            .element_bytes = bytes_of(site.type),
            .elements = site.elements};
  const bool is_plain = !site.synchronising && !site.orders && bytes % 4 == 0;
  Eights eights{.bytes = bytes, .write = write, .space = site.space};
  if (is_plain) eights.repeated = repeated_eights(site, w.active);
  const unsigned repeated = eights.repeated;
  for (unsigned q = 0; q < kEights; ++q) {
    if ((repeated >> q & 1U) != 0) continue;
    const std::uint32_t all = 0xFFU << 8 * q;
    if (is_plain && (w.active & all) == all && touch_eight(w, eights, q)) continue;
    // Those that this one would have stood for are looked at as well.
    for (unsigned p = 0; p < q; ++p) {
      const bool same = addresses_.of[8 * std::size_t{p}] == addresses_.of[8 * std::size_t{q}];
      if ((repeated >> p & 1U) != 0 && same) touch_lanes(w, site, w.active & 0xFFU << 8 * p);
    }
    touch_lanes(w, site, w.active & all);
  }
  store_ = {};
}

void Watch::touch_lanes(Warp& w, const WatchedSite& site, std::uint32_t lanes) {
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(lanes));
    touch(w, {.space = site.space,
              .lane = k,
              .address = addresses_.of[k],
              .bytes = site.bytes(),
              .write = store_.is_store,
              .is_volatile = site.synchronising});
  }
}

unsigned Watch::repeated_eights(const WatchedSite& site, std::uint32_t active) const {
  if (site.kind == SiteKind::store || active != kAllLanes) return 0;
  unsigned repeated = 0;
  for (unsigned p = 0; p + 1 < kEights; ++p) {
    for (unsigned q = p + 1; q < kEights; ++q) {
      const bool lines = (addresses_.lines >> p & addresses_.lines >> q & 1) != 0;
      const bool points = (addresses_.points >> p & addresses_.points >> q & 1) != 0;
      const bool same = addresses_.of[8 * std::size_t{p}] == addresses_.of[8 * std::size_t{q}];
      if (same && (lines || points)) repeated |= 1U << p;
    }
  }
  return repeated;
}

// Which space and object, mostly that of the eight before.
bool Watch::place_eight(Warp& w, Eights& access, std::uint64_t address, std::uint64_t bytes,
                        MemoryPlace& at) {
  if (access.object >= 0) {
    const Object& o = launch_.memory.objects()[static_cast<std::size_t>(access.object)];
    if (address >= o.begin && address <= o.end && o.end - address >= bytes) {
      at = {.space = Space::global, .offset = address, .object = access.object};
      return true;
    }
  }
  if (!locate(w, {.space = access.space, .address = address, .bytes = bytes}, at)) return false;
  if (at.object >= 0 && at.object == heap_object_) return false;  // made of many blocks
  access.object = at.object;
  return true;
}

bool Watch::touch_eight(Warp& w, Eights& access, unsigned eight) {
  const bool is_line = (addresses_.lines >> eight & 1U) != 0;
  if (!is_line && (access.write || (addresses_.points >> eight & 1U) == 0)) return false;
  const std::uint64_t bytes = std::uint64_t{access.bytes} * (is_line ? 8 : 1);
  MemoryPlace at;
  if (!place_eight(w, access, addresses_.of[8 * std::size_t{eight}], bytes, at)) return false;
  if (at.offset % 4 != 0 || is_the_runtimes(at) || is_under_way(w, at, bytes)) return false;
  std::uint64_t begin = 0;
  ByteSet* const written = wanted_.initialised ? written_at(w, at, begin) : nullptr;
  if (written != nullptr && !access.write &&
      written->first_missing(begin, bytes) != begin + bytes) {
    return false;
  }
  if (wanted_.races) {
    if (!begin_marks(w, access, at.space)) return false;
    const bool marked =
        is_line ? mark_line(access, eight, at.offset) : mark_point(access, eight, at.offset);
    if (!marked) return false;
  }
  if (written != nullptr && access.write) written->add(begin, bytes);
  return true;
}

bool Watch::begin_marks(Warp& w, Eights& access, Space space) {
  BlockWatch& block = *w.block->watch_state();
  RaceShadow& shadow = space == Space::shared ? block.shared : global_;
  if (access.shadow == &shadow) return true;
  access.marking = marking(w, space, access.write);
  // A block that others ran in between has marks that do not look like its own.
  if (space == Space::global && block.began < access.marking.since) return false;
  access.marking.who |= kWhoBytes;
  access.block = block.clocks.block();
  access.shadow = &shadow;
  shadow.log(block.clocks.access(w.index, time_, current_pc_));
  return true;
}

bool Watch::mark_line(Eights& access, unsigned eight, std::uint64_t offset) {
  const unsigned granules = access.bytes / 4;
  access.marking.for_others = access.repeated != 0;
  for (unsigned i = 0; i < 8 * granules; i += 8) {
    const std::uint64_t a = offset + 4 * std::uint64_t{i};
    const auto first = static_cast<unsigned>(a % GranulePage::kBytes / 4);
    if (first + 8 > MarkColumn::kGranules) return false;
    GranulePage* const page = access.shadow->page_at(a);
    if (page == nullptr) continue;
    if (!set_.mark_eight(*page, first, access.marking, 8 * eight + i / granules, granules)) {
      return false;
    }
  }
  return true;
}

bool Watch::mark_point(const Eights& access, unsigned eight, std::uint64_t offset) {
  Marking now = access.marking;
  now.who |= 8 * eight + 7;  // the last to read
  const auto is_ordered = [&](const Mark& m) {
    return m.time == 0 || (m.time >= now.since && m.time <= now.settled);
  };
  for (unsigned i = 0; i < access.bytes / 4; ++i) {
    const std::uint64_t a = offset + 4 * std::uint64_t{i};
    GranulePage* const page = access.shadow->page_at(a);
    if (page == nullptr) continue;
    const std::size_t g = a % GranulePage::kBytes / 4;
    for (const GranulePage* p = page; p != nullptr; p = p->beside.get()) {
      if (!is_ordered(p->write.at(g)) || !is_ordered(p->atomic.at(g))) return false;
    }
    access.shadow->note_read(*page, g, now, access.block);
  }
  return true;
}

bool Watch::writes_what_is_there(Warp& w, const MemoryTouch& t) const {
  const std::byte* const p = host_address(w, t.space, t.lane, t.address, t.bytes, true);
  if (p == nullptr) return false;
  for (unsigned i = 0; i < store_.elements; ++i) {
    const std::byte* const value = w.rows + store_.rows[i] + t.lane * store_.row_bytes;
    if (std::memcmp(p + i * store_.element_bytes, value, store_.element_bytes) != 0) return false;
  }
  return true;
}

bool Watch::same_store(Warp& w, unsigned a, unsigned b) const {
  if (!store_.is_store || addresses_.of[a] != addresses_.of[b]) return false;
  for (unsigned i = 0; i < store_.elements; ++i) {
    const std::byte* const row = w.rows + store_.rows[i];
    if (std::memcmp(row + a * store_.row_bytes, row + b * store_.row_bytes, store_.element_bytes) !=
        0) {
      return false;
    }
  }
  return true;
}

bool Watch::locate(const Warp& w, const MemoryTouch& t, MemoryPlace& out) const {
  Space space = t.space;
  std::uint64_t address = t.address;
  if (space == Space::generic) {
    if (address - kLocalWindow < kWindowBytes || address - kParamWindow < kWindowBytes)
      return false;
    space = Space::global;
    if (address - kSharedWindow < kWindowBytes) {
      space = Space::shared;
      address -= kSharedWindow;
    }
  }
  if (t.bytes == 0) return false;
  out = {.space = space, .offset = address};
  if (space == Space::shared)
    return address <= w.shared_bytes && w.shared_bytes - address >= t.bytes;
  if (space != Space::global) return false;
  out.object = launch_.memory.find(address, t.bytes);
  return out.object >= 0;
}

// The words that blocks of a grid meet by, and warps of a group.
bool Watch::is_the_runtimes(const MemoryPlace& at) const {
  return at.space == Space::shared ? at.offset >= launch_.user_shared_bytes
                                   : at.offset - kGridWorkspace < kGridWorkspaceBytes;
}

void Watch::touch(Warp& w, const MemoryTouch& given) {
  MemoryTouch t = given;
  t.atomic = t.atomic || (w.recording && current_atomic_);
  MemoryPlace at;
  if (!locate(w, t, at)) return;
  const bool is_the_users = !is_the_runtimes(at);
  if (at.object >= 0 && at.object == heap_object_) check_heap(w, t, at);
  if (wanted_.initialised && is_the_users) check_written(w, t, at);
  if (is_under_way(w, at, t.bytes)) {
    tell_under_way(w, t, at);
    return;
  }
  if (!wanted_.races) return;
  BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool meets = t.atomic || t.is_volatile;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[current_pc_])];
  if (site.orders) fence(w);
  const std::uint64_t word = at.space == Space::shared ? kSharedWindow + at.offset : at.offset;
  // What an mbarrier says was said after it was initialised, but does not tell when that was done.
  const bool learns_first = !t.atomic || !is_at_mbarrier();
  if (meets && learns_first && (t.atomic || !t.write)) clocks.acquire(word, w.index);
  if (meets) clocks.meet(word, w.index, t.lane, site.orders);
  if (meets && at.space == Space::global) meet_others(at.offset, clocks.block());
  if (is_the_users) check_races(w, t, at);
  if (!learns_first) clocks.acquire(word, w.index);
  if (meets && t.write) clocks.release(word, w.index);
}

void Watch::meet_others(std::uint64_t word, std::uint32_t block) {
  grid_.meet(block, time_);
  if (last_met_.size() >= kMaxWordsMet) last_met_.clear();
  last_met_[word] = {.block = block, .time = time_};
}

// A lock is let go by a plain write once all have been seen to be there: one word's accesses have
// one order, and what was read of it stays before what is written then.
bool Watch::has_seen(std::uint64_t word, std::uint32_t block, const Touch& earlier) const {
  if (!earlier.atomic && !earlier.is_volatile) return false;
  const auto met = last_met_.find(word);
  return met != last_met_.end() && met->second.block == block && met->second.time > earlier.time;
}

ByteSet* Watch::written_at(Warp& w, const MemoryPlace& at, std::uint64_t& begin) {
  begin = at.offset;
  if (at.space == Space::shared) return &w.block->watch_state()->written;
  const auto object = static_cast<std::size_t>(at.object);
  if (is_tracked_[object] == 0) return nullptr;
  begin -= launch_.memory.objects()[object].begin;
  return &written_[object];
}

void Watch::check_written(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  const bool shared = at.space == Space::shared;
  std::uint64_t begin = 0;
  ByteSet* const written = written_at(w, at, begin);
  if (written == nullptr) return;
  const bool reads = !t.write || t.atomic;
  if (reads && written->first_missing(begin, t.bytes) != begin + t.bytes) {
    const FindingKind kind =
        shared ? FindingKind::uninitialised_shared : FindingKind::uninitialised_global;
    bool fresh = false;
    Finding& f = add({kind, current_pc_, t.lane, current_pc_}, w, fresh);
    if (fresh) {
      name_memory(f, t, at);
      // A library may read ahead and let go of it: CUB's merge sorts do.
      f.is_warning = !f.inlined_at.empty() && f.inlined_at.back().file != f.where.file;
      f.message = std::string("Uninitialised ") + (shared ? "__shared__" : "__global__") +
                  " memory read of size " + std::to_string(t.bytes) + " of " + element_text(f) +
                  " by thread " + text_of(f.thread) + " in block " + text_of(f.block);
    }
  }
  if (t.write) written->add(begin, t.bytes);
}

// Of a lane yet to be named.
Marking Watch::marking(Warp& w, Space space, bool write) {
  BlockWatch& block = *w.block->watch_state();
  Marking now{.time = time_,
              .who = w.index << kWhoWarpShift,
              .settled = block.clocks.settled(w.index),
              .write = write};
  if (space == Space::shared) return now;  // all marks there are the block's
  if (running_ != block.clocks.block()) {
    running_ = block.clocks.block();
    since_ = time_;
    if (block.began == 0) block.began = time_;
  }
  now.since = since_;
  return now;
}

void Watch::check_races(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  BlockWatch& block = *w.block->watch_state();
  RaceShadow& shadow = at.space == Space::shared ? block.shared : global_;
  const Marking access = marking(w, at.space, t.write);
  shadow.log(block.clocks.access(w.index, time_, current_pc_));
  const std::uint64_t end = at.offset + t.bytes;
  for (std::uint64_t a = at.offset & ~std::uint64_t{3}; a < end; a += 4) {
    GranulePage* const page = shadow.page_at(a);
    if (page == nullptr) return;
    const std::size_t g = a % GranulePage::kBytes / 4;
    const auto from = static_cast<unsigned>(std::max(a, at.offset) - a);
    const auto to = static_cast<unsigned>(std::min(a + 4, end) - a);
    Marking now = access;
    now.who |= t.lane | ((1U << to) - (1U << from)) << kWhoBytesShift |
               (t.atomic ? kWhoAtomic : 0U) | (t.is_volatile ? kWhoVolatile : 0U);
    const auto look = [&](const Mark& earlier, bool earlier_wrote) {
      if (is_settled(earlier, now) || is_apart(earlier, now)) return;
      compare(w, t, at, shadow.touch_of(earlier), earlier_wrote);
    };
    for (const GranulePage* p = page; p != nullptr; p = p->beside.get()) {
      look(p->write.at(g), true);
      look(p->atomic.at(g), true);
      for (const MarkColumn& c : p->reads) {
        if (t.write) look(c.at(g), false);
      }
    }
    if (t.atomic) {
      shadow.note_atomic(*page, g, now);
    } else if (t.write) {
      shadow.note_write(*page, g, now);
    } else {
      shadow.note_read(*page, g, now, block.clocks.block());
    }
  }
}

void Watch::compare(Warp& w, const MemoryTouch& t, const MemoryPlace& at, const Touch& earlier,
                    bool earlier_wrote) {
  const BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool same_block = earlier.block == clocks.block();
  const bool same_warp = same_block && earlier.warp == w.index;
  if (same_block ? clocks.ordered(earlier, w.index, t.lane)
                 : grid_.ordered(earlier, clocks.block())) {
    return;
  }
  if (!same_block && has_seen(at.offset, clocks.block(), earlier)) return;
  const bool both_write = t.write && earlier_wrote;
  if (same_warp && earlier.time == time_) {
    if (!both_write || same_store(w, earlier.lane, t.lane)) return;
  } else if (both_write && store_.is_store && writes_what_is_there(w, t)) {
    return;
  }
  if (t.atomic ? seeds_swap_[earlier.pc] != 0 : earlier.atomic && seeds_swap_[current_pc_] != 0) {
    return;
  }
  // As atomics among themselves: each is one access, whoever comes first. Where shared memory of
  // several warps is merely volatile a barrier is missing nevertheless, most likely.
  const bool both_strong = (earlier.is_volatile || earlier.atomic) && (t.is_volatile || t.atomic);
  const bool is_meant = same_warp || at.space == Space::global ||
                        (is_strong_by_name(earlier.pc) && is_strong_by_name(current_pc_));
  if (both_strong && is_meant) return;
  const FindingKind kind = same_warp                   ? FindingKind::warp_race
                           : at.space == Space::shared ? FindingKind::shared_race
                                                       : FindingKind::global_race;
  bool fresh = false;
  Finding& f = add({kind, current_pc_, t.lane, earlier.pc}, w, fresh);
  if (!fresh) return;
  f.is_warning = same_warp && !both_write;
  f.other_block = block_of(earlier.block);
  f.other_thread = thread_of(earlier.warp, earlier.lane);
  name_memory(f, t, at);
  const char* const after = earlier_wrote ? "write" : "read";
  const char* const what = t.write ? "Write" : "Read";
  f.message = std::string("Race: ") + what + " after " + after + " without synchronisation of " +
              element_text(f) + ": thread " + text_of(f.other_thread) + " in block " +
              text_of(f.other_block) + " at line " + std::to_string(f.other_where.line) +
              ", then thread " + text_of(f.thread) + " in block " + text_of(f.block);
  if (t.atomic && !earlier.atomic && is_at_mbarrier()) {
    f.message += ": an mbarrier is for others only when a barrier follows its initialisation";
  }
}

}  // namespace assay::emulator
