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
      syncs_(warps_),
      lane_syncs_(warps_) {
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
  const unsigned lanes = std::min(32U, threads_ - warp * 32);
  for (unsigned k = 0; k < lanes; ++k) {
    if (lane_syncs_[warp][k] < last_syncs_[warp]) return;
  }
  settled_[warp] = time;
}

bool BlockClocks::ordered(const Touch& earlier, unsigned warp, unsigned lane) const {
  if (earlier.warp != warp) return clocks_[warp][earlier.warp] >= earlier.clock;
  if (earlier.lane == lane) return true;
  const auto& syncs = lane_syncs_[warp];
  return syncs[earlier.lane] > earlier.warp_syncs && syncs[lane] > earlier.warp_syncs;
}

void BlockClocks::warp_synchronised(unsigned warp, std::uint32_t lanes) {
  const std::uint32_t now = ++syncs_[warp];
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    lane_syncs_[warp][static_cast<std::size_t>(__builtin_ctz(m))] = now;
  }
}

void BlockClocks::join(Clocks& into, const Clocks& from) const {
  for (unsigned i = 0; i < warps_; ++i) into[i] = std::max(into[i], from[i]);
}

// What the warp did until now belongs to the barrier; what it does from now on does not.
void BlockClocks::arrive(unsigned barrier, unsigned warp) {
  join(barriers_[barrier], clocks_[warp]);
  fence(warp);
}

void BlockClocks::fence(unsigned warp) {
  fenced_[warp] = clocks_[warp];
  ++clocks_[warp][warp];
}

void BlockClocks::leave(unsigned barrier, unsigned warp, std::uint32_t lanes) {
  join(clocks_[warp], barriers_[barrier]);
  warp_synchronised(warp, lanes);
}

void BlockClocks::reset_barrier(unsigned barrier) { barriers_[barrier] = {}; }

void BlockClocks::release(std::uint64_t address, unsigned warp) {
  if (words_.size() >= kMaxWords) words_.clear();
  join(words_[address], fenced_[warp]);
}

void BlockClocks::acquire(std::uint64_t address, unsigned warp) {
  const auto found = words_.find(address);
  if (found != words_.end()) join(clocks_[warp], found->second);
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

void GridClocks::fence(std::uint32_t block, std::uint32_t time) { blocks_[block].fenced = time; }

void GridClocks::meet(std::uint32_t block, std::uint32_t time) {
  Times& t = blocks_[block];
  t.published = std::max(t.published, t.fenced);
  t.met = time;
}

bool GridClocks::ordered(const Touch& earlier, std::uint32_t block) const {
  const auto theirs = blocks_.find(earlier.block);
  const auto ours = blocks_.find(block);
  if (theirs == blocks_.end() || ours == blocks_.end()) return false;
  return theirs->second.published >= earlier.time && ours->second.met > earlier.time;
}

}  // namespace assay::emulator
