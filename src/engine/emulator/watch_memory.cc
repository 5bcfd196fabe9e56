// What a watch makes of an access to memory: where it goes, and whether that was written before it
// is read. Eights of lanes that move as one are looked at as one.
#include <algorithm>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/mbarrier_ops.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

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
  if (access.write && is_a_source(w, at, bytes)) return false;
  if (!is_in_variable(at, bytes)) return false;
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
  if (is_the_users && !is_in_variable(at, t.bytes)) {
    tell_outside(w, t, at);
    return;
  }
  if (at.object >= 0 && at.object == heap_object_) check_heap(w, t, at);
  if (wanted_.initialised && is_the_users) check_written(w, t, at);
  if (is_under_way(w, at, t.bytes)) {
    tell_under_way(w, t, at);
    return;
  }
  check_source(w, t, at);
  if (!wanted_.races) return;
  BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool meets = t.atomic || t.is_volatile;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(site_of_[current_pc_])];
  if (site.orders) fence(w, current_pc_);
  const std::uint64_t word = at.space == Space::shared ? kSharedWindow + at.offset : at.offset;
  // What an mbarrier says was said after it was initialised, but does not tell when that was done.
  const bool learns_first = !t.atomic || !is_at_mbarrier();
  if (meets && learns_first && (t.atomic || !t.write)) clocks.acquire(word, w.index);
  if (meets) clocks.meet(word, w.index, t.lane, site.orders);
  const bool meets_others = meets && at.space == Space::global && !is_of_block(current_pc_);
  if (meets_others) meet_others(w, t, at.offset);
  if (is_the_users) check_races(w, t, at);
  if (is_the_users && !t.write && at.space == Space::shared) check_proxy(w, t, at);
  // Who tests one learns what the phase tells that it finds over.
  const bool tests = originals_[current_pc_].masked == &op_mbarrier_test;
  if (!learns_first && (!tests || at.space != Space::shared)) clocks.acquire(word, w.index);
  if (meets && t.write) clocks.release(word, w.index);
  if (meets_others && t.write && clocks.has_news(w.index)) {
    grid_.publish(at.offset, clocks.news(w.index));
  }
}

ByteSet* Watch::written_at(Warp& w, const MemoryPlace& at, std::uint64_t& begin) {
  begin = at.offset;
  if (at.space == Space::shared) return &w.block->watch_state()->written;
  const auto object = static_cast<std::size_t>(at.object);
  if (is_tracked_[object] == 0) return nullptr;
  begin -= launch_.memory.objects()[object].begin;
  return &written_[object];
}

// A library may read ahead and let go of it: CUB's merge sorts do.
bool Watch::is_librarys(std::uint32_t pc) const {
  return launch_.text.is_below(pc, "/cub/") || launch_.text.is_below(pc, "/thrust/");
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
      f.is_warning = is_librarys(current_pc_);
      f.message = std::string("Uninitialised ") + (shared ? "__shared__" : "__global__") +
                  " memory read of size " + std::to_string(t.bytes) + " of " + element_text(f) +
                  " by thread " + text_of(f.thread) + " in block " + text_of(f.block);
    }
  }
  if (t.write) written->add(begin, t.bytes);
}

}  // namespace assay::emulator
