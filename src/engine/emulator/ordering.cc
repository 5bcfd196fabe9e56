#include "engine/emulator/ordering.h"

#include <algorithm>

namespace assay::emulator {

namespace {
// Words that atomics were seen on, per block. Beyond it the oldest knowledge is dropped.
constexpr std::size_t kMaxWords = 1U << 16;
}  // namespace

BlockClocks::BlockClocks(std::uint32_t block, unsigned warps)
    : block_(block),
      warps_(warps),
      clocks_(warps),
      fenced_(warps),
      syncs_(warps),
      lane_syncs_(warps) {
  for (unsigned i = 0; i < warps; ++i) clocks_[i][i] = 1;
}

void BlockClocks::stamp(Touch& touch, unsigned warp, unsigned lane) const {
  touch.block = block_;
  touch.warp = static_cast<std::uint8_t>(warp);
  touch.lane = static_cast<std::uint8_t>(lane);
  touch.clock = clocks_[warp][warp];
  touch.warp_syncs = syncs_[warp];
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
