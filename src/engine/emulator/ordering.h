// What happened before what, as far as a program may rely on it: between the warps of a block by
// barriers and by atomics on the same word, between the lanes of a warp by warp-wide operations,
// between blocks by an atomic after a fence. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace assay::emulator {

// Of a block: those that instructions number, and that of its cluster.
inline constexpr unsigned kBarriers = 16;
inline constexpr unsigned kAllBarriers = kBarriers + 1;

inline constexpr unsigned kMaxWarps = 32;

// One access, as later ones are compared with it.
struct Touch {
  std::uint32_t time = 0;  // 0: none. Accesses of one warp's instruction have one time.
  std::uint32_t block = 0;
  std::uint32_t pc = 0;
  std::uint32_t clock = 0;       // of its warp
  std::uint32_t warp_syncs = 0;  // that its warp had executed
  std::uint8_t warp = 0;
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0;  // of the granule: a bit each
  bool atomic = false;
  bool is_volatile = false;
};

// What the touches of one access have in common, but for the warp.
struct LoggedAccess {
  std::uint32_t time = 0;
  std::uint32_t block = 0;
  std::uint32_t pc = 0;
  std::uint32_t clock = 0;
  std::uint32_t warp_syncs = 0;
};

class BlockClocks {
 public:
  BlockClocks(std::uint32_t block, unsigned threads);
  [[nodiscard]] std::uint32_t block() const { return block_; }
  // An access of this warp at `time`.
  [[nodiscard]] LoggedAccess access(unsigned warp, std::uint32_t time, std::uint32_t pc);
  // Accesses of the block until this time are ordered before whatever the warp does now. (Others
  // may be as well.)
  [[nodiscard]] std::uint32_t settled(unsigned warp) const { return settled_[warp]; }
  // Everything until `time` that is ordered before all lanes of the warp from now on counts as
  // settled, if that is all there was.
  void settle(unsigned warp, std::uint32_t time);
  void settle_if_accessed(unsigned warp, std::uint32_t time) {
    if (has_accessed_[warp]) settle(warp, time);
    has_accessed_[warp] = false;
  }
  void settle_all(std::uint32_t time) {
    for (unsigned i = 0; i < warps_; ++i) settle(i, time);
  }
  // `earlier` is of this block.
  [[nodiscard]] bool ordered(const Touch& earlier, unsigned warp, unsigned lane) const;

  void warp_synchronised(unsigned warp, std::uint32_t lanes);
  void arrive(unsigned barrier, unsigned warp);
  void leave(unsigned barrier, unsigned warp, std::uint32_t lanes);  // all have arrived
  void reset_barrier(unsigned barrier);
  // Only what came before a fence is published by a release that is none itself.
  void fence(unsigned warp);
  // An atomic or volatile access to the word at `address`.
  void release(std::uint64_t address, unsigned warp);
  void acquire(std::uint64_t address, unsigned warp);
  // The same among the lanes of a warp: a lane comes after those that were here before and had told
  // what they did, by a fence or by an operation that orders (an mbarrier's, a release).
  void lanes_fenced(unsigned warp, std::uint32_t lanes) { fenced_lanes_[warp] |= lanes; }
  void meet(std::uint64_t address, unsigned warp, unsigned lane, bool orders);

 private:
  using Clocks = std::array<std::uint32_t, kMaxWarps>;
  void join(Clocks& into, const Clocks& from) const;

  std::uint32_t block_;
  unsigned threads_;
  unsigned warps_;
  std::vector<Clocks> clocks_;
  // Of the last access of each warp.
  Clocks last_clock_{};
  Clocks last_syncs_{};
  Clocks settled_{};
  Clocks fenced_lanes_{};                       // that ever executed a fence
  std::array<bool, kMaxWarps> has_accessed_{};  // since its lanes last met
  std::vector<Clocks> fenced_;
  std::array<Clocks, kAllBarriers> barriers_{};
  std::unordered_map<std::uint64_t, Clocks> words_{};
  std::unordered_map<std::uint64_t, Clocks> lanes_met_{};  // by word: of each warp
  std::vector<std::uint32_t> syncs_;
  std::vector<std::array<std::uint32_t, 32>> lane_syncs_;
};

// Between blocks: times only.
class GridClocks {
 public:
  void fence(std::uint32_t block, std::uint32_t time);
  // An atomic or volatile access to global memory, which publishes what was fenced and sees what
  // others published.
  void meet(std::uint32_t block, std::uint32_t time);
  [[nodiscard]] bool ordered(const Touch& earlier, std::uint32_t block) const;

 private:
  struct Times {
    std::uint32_t fenced = 0;
    std::uint32_t published = 0;
    std::uint32_t met = 0;
  };
  std::unordered_map<std::uint32_t, Times> blocks_{};
};

}  // namespace assay::emulator
