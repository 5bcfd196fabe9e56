// What a watch makes of two accesses to the same bytes: whether the earlier one is ordered before
// the one at hand, and if not, whether that matters.
#include <algorithm>
#include <cctype>
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

bool names(const std::string& instruction, const std::string& name) {
  const auto goes_on = [](char c) {
    return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_';
  };
  for (std::size_t at = instruction.find(name); at != std::string::npos;
       at = instruction.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (end >= instruction.size() || !goes_on(instruction[end])) return true;
  }
  return false;
}

// Accesses to other bytes, and atomics among themselves, never race.
bool is_apart(const Mark& m, const Marking& now) {
  return (m.who & now.who & kWhoBytes) == 0 || (m.who & now.who & kWhoAtomic) != 0;
}

}  // namespace

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

// Who throws away what an atomic found has learned nothing; who asks for no order has it after a
// fence only.
void Watch::meet_others(Warp& w, const MemoryTouch& t, std::uint64_t word) {
  BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool looks = t.atomic ? !ignores_result(current_pc_) : !t.write;
  const bool holds = t.atomic || !is_relaxed(current_pc_);
  if (looks) clocks.learn(w.index, grid_.read(word), holds);
  const std::uint32_t block = clocks.block();
  if (last_met_.size() >= kMaxWordsMet) last_met_.clear();
  last_met_[word] = {.block = block, .time = time_};
}

bool Watch::is_relaxed(std::uint32_t pc) {
  const auto [at, fresh] = relaxed_.try_emplace(pc, false);
  if (fresh) at->second = launch_.text.instruction_at(pc).find("ld.relaxed") != std::string::npos;
  return at->second;
}

// A reduction, or an atomic whose result no instruction names.
bool Watch::ignores_result(std::uint32_t pc) {
  const auto [at, fresh] = ignoring_.try_emplace(pc, false);
  if (!fresh) return at->second;
  const Module::Text& text = launch_.text;
  const std::string atomic = text.instruction_at(pc);
  if (atomic.find("atom.") == std::string::npos) return at->second = true;
  const std::size_t end = atomic.find(',');
  const std::size_t begin = end == std::string::npos ? end : atomic.find_last_of(" \t", end);
  if (begin == std::string::npos) return false;
  const std::string result = atomic.substr(begin + 1, end - begin - 1);
  if (result == "_") return at->second = true;
  if (result.empty() || result[0] != '%') return false;
  const auto f = std::find_if(text.functions.begin(), text.functions.end(),
                              [&](const auto& g) { return pc >= g.entry_pc && pc < g.end_pc; });
  if (f == text.functions.end()) return false;
  for (std::uint32_t other = f->entry_pc; other < f->end_pc; ++other) {
    if (other != pc && names(text.instruction_at(other), result)) return false;
  }
  return at->second = true;
}

// A lock is let go by a plain write once all have been seen to be there: one word's accesses have
// one order, and what was read of it stays before what is written then.
bool Watch::has_seen(std::uint64_t word, std::uint32_t block, const Touch& earlier) const {
  if (!earlier.atomic && !earlier.is_volatile) return false;
  const auto met = last_met_.find(word);
  return met != last_met_.end() && met->second.block == block && met->second.time > earlier.time;
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
    std::uint32_t displaced = 0;
    for (const GranulePage* p = page; p != nullptr; p = p->beside.get()) {
      look(p->write.at(g), true);
      look(p->atomic.at(g), true);
      for (const MarkColumn& c : p->reads) {
        if (t.write) look(c.at(g), false);
      }
      displaced = std::max(displaced, displaced_by(w, t, shadow, p->write.at(g), now));
    }
    now.who |= displaced << kWhoDisplacedShift;
    if (t.atomic) {
      shadow.note_atomic(*page, g, now);
    } else if (t.write) {
      shadow.note_write(*page, g, now);
    } else {
      shadow.note_read(*page, g, now, block.clocks.block());
    }
  }
}

// What the mark of a write that replaces `earlier` says of that (kWhoDisplacedShift).
std::uint32_t Watch::displaced_by(Warp& w, const MemoryTouch& t, const RaceShadow& shadow,
                                  const Mark& earlier, const Marking& now) const {
  const bool is_own = earlier.time >= now.since && earlier.time > now.settled &&
                      ((earlier.who ^ now.who) & kWhoThread) == 0;
  if (!store_.is_store || earlier.time == 0 || !is_own || is_apart(earlier, now)) return 0;
  const Touch touch = shadow.touch_of(earlier);
  const Touch at_hand = shadow.touch_of({.time = now.time});
  if (touch.clock != at_hand.clock || touch.warp_syncs != at_hand.warp_syncs) return 0;
  if (touch.displaced != 0) return touch.displaced;
  return touch.pc < kMostDisplaced && !writes_what_is_there(w, t) ? touch.pc + 1 : 0;
}

void Watch::compare(Warp& w, const MemoryTouch& t, const MemoryPlace& at, Touch earlier,
                    bool earlier_wrote) {
  const BlockClocks& clocks = w.block->watch_state()->clocks;
  const bool same_block = earlier.block == clocks.block();
  const bool same_warp = same_block && earlier.warp == w.index;
  if (same_block ? clocks.ordered(earlier, w.index, t.lane)
                 : grid_.ordered(earlier, clocks.learned(w.index))) {
    return;
  }
  if (!same_block && has_seen(at.offset, clocks.block(), earlier)) return;
  const bool both_write = t.write && earlier_wrote;
  const bool is_one_access = same_warp && earlier.time == time_;
  if (is_one_access && !both_write) return;
  if (both_write && (is_one_access ? same_store(w, earlier.lane, t.lane)
                                   : store_.is_store && writes_what_is_there(w, t))) {
    if (earlier.displaced == 0) return;
    earlier.pc = earlier.displaced - 1;
  }
  if (t.atomic ? seeds_swap_[earlier.pc] != 0 : earlier.atomic && seeds_swap_[current_pc_] != 0) {
    return;
  }
  // As atomics among themselves: each is one access, whoever comes first. Where shared memory of
  // several warps is merely volatile a barrier is missing nevertheless, most likely.
  const bool both_strong = (earlier.is_volatile || earlier.atomic) && (t.is_volatile || t.atomic);
  const bool is_meant = same_warp || at.space == Space::global ||
                        (is_strong_by_name(earlier.pc) && is_strong_by_name(current_pc_)) ||
                        waits_by_volatile();
  if (both_strong && is_meant) return;
  tell_race(w, t, at, earlier, earlier_wrote);
}

// Who reads such a word again and again waits by it, and what comes first is told by it; elsewhere
// a volatile word of shared memory orders nothing.
bool Watch::waits_by_volatile() {
  if (waits_by_volatile_) return *waits_by_volatile_;
  const Module::Text& text = launch_.text;
  const auto entry = static_cast<std::uint32_t>(launch_.entry - text.functions.data());
  const std::vector<std::uint32_t> called = text.reachable(entry);
  const auto is_polled = [&](const WatchedSite& site) {
    const bool runs = std::any_of(called.begin(), called.end(), [&](std::uint32_t f) {
      return site.pc >= text.functions[f].entry_pc && site.pc < text.functions[f].end_pc;
    });
    return runs && site.kind == SiteKind::load && site.synchronising &&
           site.space != Space::global && text.reached_from(site.pc + 1)[site.pc];
  };
  const auto& all = text.watched;
  return *(waits_by_volatile_ = std::any_of(all.begin(), all.end(), is_polled));
}

void Watch::tell_race(Warp& w, const MemoryTouch& t, const MemoryPlace& at, const Touch& earlier,
                      bool earlier_wrote) {
  const bool same_block = earlier.block == w.block->watch_state()->clocks.block();
  const bool same_warp = same_block && earlier.warp == w.index;
  const bool both_write = t.write && earlier_wrote;
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
