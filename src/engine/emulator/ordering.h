// What happened before what, as far as a program may rely on it: between the warps of a block by
// barriers and by atomics on the same word, between the lanes of a warp by warp-wide operations
// that both take part in. Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/emulator/grid_clocks.h"

namespace assay::emulator {

// Of a block: those that instructions number, and that of its cluster.
inline constexpr unsigned kBarriers = 16;
inline constexpr unsigned kAllBarriers = kBarriers + 1;

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
  std::uint32_t displaced = 0;  // one more than the pc of the write that it displaced (shadow.h)
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
  void arrive(unsigned barrier, unsigned warp, std::uint32_t lanes);
  void leave(unsigned barrier, unsigned warp, std::uint32_t lanes);  // all have arrived
  void reset_barrier(unsigned barrier);
  // Only what came before a fence is published by a release that is none itself.
  void fence(unsigned warp);
  // An atomic or volatile access to the word at `address`.
  void release(std::uint64_t address, unsigned warp);
  void acquire(std::uint64_t address, unsigned warp);
  // --- mbarriers: words that count phases ---
  void phases_begin(std::uint64_t address) { phases_.erase(address); }
  void phase_over(std::uint64_t address);
  // The warp found that a phase of this parity is over. It may be a later one than that which it
  // waited for: only the first that it can have waited for is sure to be over whenever it looks.
  void phase_seen(std::uint64_t address, unsigned warp, bool odd);
  // --- between blocks ---
  // A fence for copies that run beside the threads: what happened until now they may read.
  void proxy_fence(unsigned warp);
  [[nodiscard]] bool is_seen_by_copies(const Touch& earlier, unsigned warp) const {
    return across_[warp].proxied[earlier.warp] >= earlier.clock;
  }

  // A fence for all of the device.
  void device_fence(unsigned warp);
  // The warp has seen what others published; `holds` once it has executed a fence.
  void learn(unsigned warp, Learned::Word word, bool holds_at_once);
  // What a write of the warp tells others; nothing if it knows nothing they may rely on.
  [[nodiscard]] bool has_news(unsigned warp) const { return across_[warp].is_news; }
  [[nodiscard]] Published news(unsigned warp) const;
  [[nodiscard]] const Learned& learned(unsigned warp) const { return across_[warp].learned; }

  // The same among the lanes of a warp: a lane comes after those that were here before and had told
  // what they did, by a fence or by an operation that orders (an mbarrier's, a release).
  void lanes_fenced(unsigned warp, std::uint32_t lanes) { fenced_lanes_[warp] |= lanes; }
  void meet(std::uint64_t address, unsigned warp, unsigned lane, bool orders);

 private:
  // What is told beside the clocks of the block.
  struct Across {
    Clocks visible{};  // to the device
    Clocks proxied{};  // to asynchronous copies
    Learned learned{};
    bool is_news = false;  // there is any of it
  };
  // By lane: until which of the warp's synchronisations it knows what each lane did.
  using LaneKnowledge = std::array<std::array<std::uint32_t, 32>, 32>;
  // What those had done who arrived until the end of each of the last phases.
  struct Phases {
    static constexpr std::uint32_t kKept = 8;
    std::uint32_t over = 0;
    std::array<Clocks, kKept> last{};
  };
  [[nodiscard]] bool knows(unsigned warp, const Clocks& all) const;
  void join(Clocks& into, const Clocks& from) const;
  void join(Across& into, const Across& from) const;
  void hear(unsigned warp, const Across& from);
  [[nodiscard]] std::uint32_t lanes_of(unsigned warp) const;
  LaneKnowledge& knowledge_of(unsigned warp);

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
  std::array<std::array<std::uint32_t, kMaxWarps>, kAllBarriers> barrier_lanes_{};
  std::array<Across, kAllBarriers> barriers_across_{};
  std::vector<Across> across_;     // of each warp
  std::vector<Learned> doubtful_;  // holds from the next fence on
  std::unordered_map<std::uint64_t, Clocks> words_{};
  std::unordered_map<std::uint64_t, Across> words_across_{};
  std::unordered_map<std::uint64_t, Phases> phases_{};
  std::unordered_map<std::uint64_t, Clocks> lanes_met_{};  // by word: of each warp
  std::vector<std::uint32_t> syncs_;
  Clocks whole_syncs_{};  // the last that all lanes of the warp took part in
  std::vector<std::unique_ptr<LaneKnowledge>> lane_knowledge_;
};

}  // namespace assay::emulator
