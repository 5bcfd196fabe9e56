// The inspection of one launch. Its code is the module's with the handlers of what is looked at
// replaced by one that looks first and then calls the original, so that a launch without an
// inspection pays nothing. One thread runs all blocks of an inspected launch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/emulator/launch_state.h"
#include "engine/emulator/shadow.h"
#include "engine/emulator/traffic.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {

// What a watch keeps per block, from its start to its end.
struct BlockWatch {
  BlockWatch(std::uint32_t number, unsigned warps, std::size_t shared_bytes)
      : clocks(number, warps), written(shared_bytes) {}
  BlockClocks clocks;
  RaceShadow shared{};
  ByteSet written;
};

struct MemoryTouch {
  Space space = Space::generic;
  unsigned lane = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool write = false;
  bool atomic = false;
  bool is_volatile = false;
  bool same_value = false;  // writes what is there already
};

// Where a touch is: an offset in shared memory, or an address and the object that holds it.
struct MemoryPlace {
  Space space = Space::global;
  std::uint64_t offset = 0;
  std::int32_t object = -1;
};

struct BarrierMeeting {
  unsigned barrier = 0;
  std::uint32_t exited = 0;    // threads of the block that have returned, when it is over
  bool whole_block = false;    // no count was given
  std::uint32_t first_pc = 0;  // where the first of those who wait stands
};

[[nodiscard]] std::string plain_name(std::string_view mangled);  // of a variable
[[nodiscard]] std::string text_of(Dim3 d);
[[nodiscard]] std::string element_text(const Finding& f);  // element 3 of 'x'

class Watch {
 public:
  Watch(LaunchState& launch, std::span<const Buffer> buffers);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  [[nodiscard]] const Op* code() const { return code_.data(); }
  // The watch of a block that starts. Lives as long as the block runs.
  [[nodiscard]] std::unique_ptr<BlockWatch> block_watch(Dim3 index) const;
  void attach(Warp& w);

  // --- what happens, told by those who do it ---
  void before(Warp& w, const Op& op);
  void after(Warp& w, const Op& op);
  [[nodiscard]] Handler original(std::uint32_t pc) const;
  void touch(Warp& w, const MemoryTouch& touch);
  void warp_synchronised(Warp& w, std::uint32_t lanes);
  void fence(Warp& w);
  void allocated(std::uint64_t address, std::uint64_t bytes) { global_.forget(address, bytes); }
  void diverged(std::uint32_t pc) { ++divergent_[pc]; }
  void barrier_arrival(Warp& w, const Op& op, const BarrierMeeting& meeting);
  void barrier_leave(Warp& w, const Group& group, const BarrierMeeting& meeting);
  void barrier_done(BlockWatch& block, unsigned barrier);
  void inactive_shuffle(Warp& w, const Op& op, unsigned lane, unsigned from);

  // Moves what was found into the outcome.
  void finish(Outcome& outcome);

 private:
  // What a finding is about; of equal ones only the first is described.
  struct Place {
    FindingKind kind = FindingKind::shared_race;
    std::uint32_t pc = 0;
    unsigned lane = 0;
    std::uint32_t other_pc = 0;
  };
  // The store whose lanes are being looked at.
  struct StoreAtHand {
    const std::array<std::uint64_t, 32>* addresses = nullptr;
    std::array<std::uint32_t, 4> rows{};
    unsigned row_bytes = 0;
    unsigned element_bytes = 0;
    unsigned elements = 0;
  };
  [[nodiscard]] bool locate(const Warp& w, const MemoryTouch& t, MemoryPlace& out) const;
  // Lanes of the warp that could still come to where the others are.
  [[nodiscard]] static bool others_return(const Warp& w);
  void check_written(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  void check_races(Warp& w, const MemoryTouch& t, const MemoryPlace& at);
  void compare(Warp& w, const MemoryTouch& t, const MemoryPlace& at, const Touch& now,
               const Touch& earlier, bool earlier_wrote);
  void lanes_touch(Warp& w, const Op& op, const WatchedSite& site);
  [[nodiscard]] bool writes_what_is_there(Warp& w, const MemoryTouch& t) const;
  // Do two lanes of the store at hand write the same value to the same place?
  [[nodiscard]] bool same_store(Warp& w, unsigned a, unsigned b) const;
  void count_traffic(Warp& w, const WatchedSite& site,
                     const std::array<std::uint64_t, 32>& addresses);
  [[nodiscard]] bool is_aligned_barrier(std::uint32_t pc);
  void check_division(Warp& w, const Op& op, const WatchedSite& site);
  void note_sources(Warp& w, const Op& op, const WatchedSite& site);
  void check_result(Warp& w, const Op& op, const WatchedSite& site);
  // --- watch_findings.cc ---
  Finding& add(const Place& place, Warp& w, bool& fresh);
  [[nodiscard]] bool is_known(const Place& place);
  [[nodiscard]] std::uint64_t key_of(const Place& place);
  [[nodiscard]] std::uint32_t line_of(std::uint32_t pc);
  void name_memory(Finding& f, const MemoryTouch& t, const MemoryPlace& at) const;
  [[nodiscard]] Dim3 block_of(std::uint32_t number) const;
  [[nodiscard]] Dim3 thread_of(unsigned warp, unsigned lane) const;

  LaunchState& launch_;
  Inspection wanted_;
  std::vector<Op> code_;
  std::vector<std::int32_t> site_of_{};  // by pc, -1: not watched
  std::uint32_t time_ = 0;
  RaceShadow global_{};
  GridClocks grid_{};
  std::vector<ByteSet> written_{};          // of buffers nobody initialised, by object
  std::vector<std::uint8_t> is_tracked_{};  // by object
  // The instruction at hand.
  std::uint32_t current_pc_ = 0;
  bool current_atomic_ = false;
  StoreAtHand store_{};
  std::uint32_t finite_sources_ = 0;
  std::unordered_map<std::uint32_t, bool> aligned_{};
  // Findings.
  bool seen_nan_ = false;
  bool seen_infinity_ = false;
  std::unordered_map<std::uint32_t, std::uint32_t> lines_{};
  std::unordered_map<std::uint64_t, std::size_t> index_{};  // by key_of
  std::vector<Finding> findings_{};
  Finding overflow_{};  // takes what goes beyond the last one
  bool truncated_ = false;
  // Counters.
  std::vector<Executed> executed_{};
  std::vector<std::uint64_t> divergent_{};  // by pc
  std::unique_ptr<Traffic> traffic_{};
};

}  // namespace assay::emulator
