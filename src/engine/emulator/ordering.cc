#include "engine/emulator/ordering.h"

#include <algorithm>

namespace assay::emulator {

namespace {
// Words that atomics were seen on, per block. Beyond it the oldest knowledge is dropped.
constexpr std::size_t kMaxWords = 1U << 16;
}  // namespace

BlockClocks::BlockClocks(std::uint32_t block, unsigned threads)
    : block_(block),
      threads_(threads),
      warps_((threads + 31) / 32),
      clocks_(warps_),
      fenced_(warps_),
      across_(warps_),
      doubtful_(warps_),
      syncs_(warps_),
      lane_knowledge_(warps_) {
  for (unsigned i = 0; i < warps_; ++i) clocks_[i][i] = 1;
}

LoggedAccess BlockClocks::access(unsigned warp, std::uint32_t time, std::uint32_t pc) {
  last_clock_[warp] = clocks_[warp][warp];
  last_syncs_[warp] = syncs_[warp] + 1;
  has_accessed_[warp] = true;
  return {.time = time,
          .block = block_,
          .pc = pc,
          .clock = clocks_[warp][warp],
          .warp_syncs = syncs_[warp]};
}

void BlockClocks::settle(unsigned warp, std::uint32_t time) {
  for (unsigned i = 0; i < warps_; ++i) {
    if (i != warp && clocks_[warp][i] < last_clock_[i]) return;
  }
  if (whole_syncs_[warp] < last_syncs_[warp]) return;
  settled_[warp] = time;
}

bool BlockClocks::ordered(const Touch& earlier, unsigned warp, unsigned lane) const {
  if (earlier.warp != warp) return clocks_[warp][earlier.warp] >= earlier.clock;
  if (earlier.lane == lane) return true;
  if (whole_syncs_[warp] > earlier.warp_syncs) return true;
  const LaneKnowledge* const known = lane_knowledge_[warp].get();
  return known != nullptr && (*known)[lane][earlier.lane] > earlier.warp_syncs;
}

std::uint32_t BlockClocks::lanes_of(unsigned warp) const {
  const unsigned lanes = std::min(32U, threads_ - warp * 32);
  return lanes == 32 ? ~0U : (1U << lanes) - 1;
}

BlockClocks::LaneKnowledge& BlockClocks::knowledge_of(unsigned warp) {
  if (!lane_knowledge_[warp]) lane_knowledge_[warp] = std::make_unique<LaneKnowledge>();
  return *lane_knowledge_[warp];
}

void BlockClocks::warp_synchronised(unsigned warp, std::uint32_t lanes) {
  const std::uint32_t now = ++syncs_[warp];
  if ((lanes_of(warp) & ~lanes) == 0) {
    whole_syncs_[warp] = now;
    return;
  }
  LaneKnowledge& known = knowledge_of(warp);
  std::array<std::uint32_t, 32> all{};
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(__builtin_ctz(m));
    known[lane][lane] = now;
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = std::max(all[k], known[lane][k]);
  }
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    known[static_cast<std::size_t>(__builtin_ctz(m))] = all;
  }
}

void BlockClocks::join(Clocks& into, const Clocks& from) const {
  for (unsigned i = 0; i < warps_; ++i) into[i] = std::max(into[i], from[i]);
}

void BlockClocks::join(Across& into, const Across& from) const {
  join(into.visible, from.visible);
  join(into.proxied, from.proxied);
  into.learned.add(from.learned);
  into.is_news = into.is_news || from.is_news;
}

void BlockClocks::hear(unsigned warp, const Across& from) {
  if (from.is_news) join(across_[warp], from);
}

// What the warp did until now belongs to the barrier; what it does from now on does not.
void BlockClocks::arrive(unsigned barrier, unsigned warp, std::uint32_t lanes) {
  join(barriers_[barrier], clocks_[warp]);
  if (has_news(warp)) join(barriers_across_[barrier], across_[warp]);
  barrier_lanes_[barrier][warp] |= lanes;
  fence(warp);
}

void BlockClocks::proxy_fence(unsigned warp) {
  across_[warp].proxied = clocks_[warp];
  across_[warp].is_news = true;
  fence(warp);
}

void BlockClocks::device_fence(unsigned warp) {
  across_[warp].visible = clocks_[warp];
  across_[warp].learned.add(doubtful_[warp]);
  doubtful_[warp].clear();
  across_[warp].is_news = true;
  fence(warp);
}

void BlockClocks::learn(unsigned warp, Learned::Word word, bool holds_at_once) {
  if (word.entries == 0) return;
  if (!holds_at_once) {
    doubtful_[warp].add(word);
    return;
  }
  across_[warp].learned.add(word);
  across_[warp].is_news = true;
}

Published BlockClocks::news(unsigned warp) const {
  return {.block = block_, .visible = across_[warp].visible, .learned = across_[warp].learned};
}

void BlockClocks::fence(unsigned warp) {
  fenced_[warp] = clocks_[warp];
  ++clocks_[warp][warp];
}

void BlockClocks::leave(unsigned barrier, unsigned warp, std::uint32_t lanes) {
  join(clocks_[warp], barriers_[barrier]);
  hear(warp, barriers_across_[barrier]);
  // Lanes of a warp that came one after another leave so, too.
  warp_synchronised(warp, lanes | barrier_lanes_[barrier][warp]);
}

void BlockClocks::reset_barrier(unsigned barrier) {
  barriers_[barrier] = {};
  barriers_across_[barrier] = {};
  barrier_lanes_[barrier] = {};
}

void BlockClocks::release(std::uint64_t address, unsigned warp) {
  if (words_.size() >= kMaxWords) words_.clear();
  join(words_[address], fenced_[warp]);
  if (!has_news(warp)) return;
  if (words_across_.size() >= kMaxWords) words_across_.clear();
  join(words_across_[address], across_[warp]);
}

void BlockClocks::acquire(std::uint64_t address, unsigned warp) {
  const auto found = words_.find(address);
  if (found != words_.end()) join(clocks_[warp], found->second);
  const auto news = words_across_.find(address);
  if (news != words_across_.end()) hear(warp, news->second);
}

bool BlockClocks::knows(unsigned warp, const Clocks& all) const {
  for (unsigned i = 0; i < warps_; ++i) {
    if (clocks_[warp][i] < all[i]) return false;
  }
  return true;
}

void BlockClocks::phase_over(std::uint64_t address) {
  if (phases_.size() >= kMaxWords) phases_.clear();
  Phases& p = phases_[address];
  const auto arrived = words_.find(address);
  p.last[p.over++ % Phases::kKept] = arrived == words_.end() ? Clocks{} : arrived->second;
}

void BlockClocks::phase_seen(std::uint64_t address, unsigned warp, bool odd) {
  const auto found = phases_.find(address);
  if (found == phases_.end()) return;  // the phase before the first
  const Phases& p = found->second;
  const auto news = words_across_.find(address);
  if (news != words_across_.end()) hear(warp, news->second);
  const std::uint32_t oldest = p.over > Phases::kKept ? p.over - Phases::kKept : 0;
  std::uint32_t unknown = p.over;  // phases until this one are known to be over
  while (unknown > oldest && !knows(warp, p.last[(unknown - 1) % Phases::kKept])) --unknown;
  if (unknown == oldest && oldest != 0) return acquire(address, warp);  // too long ago
  const bool is_last_known = ((unknown + 1) % 2 != 0) == odd;  // that before the first is odd
  if (is_last_known || unknown >= p.over) return;
  join(clocks_[warp], p.last[unknown % Phases::kKept]);
}

void BlockClocks::meet(std::uint64_t address, unsigned warp, unsigned lane, bool orders) {
  const std::uint32_t self = 1U << lane;
  const auto found = lanes_met_.find(address);
  if (found != lanes_met_.end() && (found->second[warp] & ~self) != 0) {
    warp_synchronised(warp, found->second[warp] | self);
  }
  if (!orders && (fenced_lanes_[warp] & self) == 0) return;
  if (lanes_met_.size() >= kMaxWords) lanes_met_.clear();
  lanes_met_[address][warp] |= self;
}

}  // namespace assay::emulator
