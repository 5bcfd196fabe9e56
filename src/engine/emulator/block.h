// One thread block: its warps, shared memory and barriers. A Block is reused for many blocks of a
// launch; one host thread runs it at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/emulator/launch_state.h"
#include "engine/emulator/ordering.h"
#include "engine/emulator/vain_waits.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {

struct BlockWatch;

// cp.async.bulk into shared memory, on its way until somebody asks the barrier that it reports to.
struct BulkCopy {
  std::byte* to = nullptr;
  const std::byte* barrier = nullptr;
  std::vector<std::byte> bytes{};
};

class Block {
 public:
  explicit Block(LaunchState& launch);
  ~Block();

  // False: no memory for it, and the launch has ended.
  [[nodiscard]] bool prepare();
  [[nodiscard]] bool fresh() const { return warps_.empty(); }
  void start(Dim3 index, std::uint32_t smid);
  // Runs for about `warp_instructions`. True: the block (or the launch) is over.
  bool run(std::int64_t warp_instructions);
  // For its watch: it will not go on.
  void over();
  // Hands the counts not yet accounted for to the launch.
  void poll(const BlockProgress& at);
  [[nodiscard]] BlockProgress come_to() const {
    return {.block = index_, .warp_instructions = ran_, .pc = pc_};
  }

  // --- for handlers ---
  [[nodiscard]] LaunchState& launch() { return launch_; }
  [[nodiscard]] BlockWatch* watch_state() { return watch_state_.get(); }
  [[nodiscard]] Dim3 index() const { return index_; }
  [[nodiscard]] Dim3 thread(const Warp& w, unsigned lane) const;
  [[nodiscard]] std::uint64_t special(const Warp& w, Special special, unsigned lane) const;
  [[nodiscard]] std::uint64_t constant(const ConstantRow& row) const;
  [[nodiscard]] std::uint64_t local_limit() const { return launch_.budget.local_bytes_per_thread; }
  [[nodiscard]] bool reserve_memory(std::size_t bytes) { return launch_.reserve_memory(bytes); }
  // What nobody has written holds this.
  [[nodiscard]] std::uint32_t garbage() const;
  void out_of_memory(Warp& w);
  void fault(Warp& w, Fault fault);

  struct Arrival {
    std::uint32_t id = 0;
    std::uint32_t threads = 0;  // 0: all of the block
    bool waits = true;          // bar.arrive does not
    std::uint32_t values = 0;   // the predicate of each lane
  };
  void arrive(Warp& w, const Op& op, const Arrival& arrival);
  [[nodiscard]] std::vector<BulkCopy>& bulk_copies() { return bulk_copies_; }
  [[nodiscard]] MbarrierWaits& waits() { return waits_; }
  void lanes_exited(Warp& w, std::uint32_t mask);

 private:
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t expected = 0;  // 0: all threads that have not exited
    std::uint32_t true_count = 0;
    std::vector<std::uint32_t> lanes{};  // per warp
  };
  void leave_together(Warp& last);
  [[nodiscard]] bool complete(const Barrier& b) const;
  [[nodiscard]] std::uint32_t arrived_whole_warps(const Barrier& b) const;
  void release(std::uint32_t id);
  void deliver(const Barrier& b, const Group& g);
  void stuck();
  // Every thread waits for an mbarrier whose phase nobody can end, or at a barrier for those that
  // do: the launch has ended.
  [[nodiscard]] bool all_wait_in_vain();
  void tell_vain_waits(const std::vector<std::pair<Warp*, VainWait>>& waits);
  [[nodiscard]] std::string state_of_mbarrier(const std::byte* barrier) const;
  [[nodiscard]] std::string stuck_message(const Group& waiting) const;

  LaunchState& launch_;
  Dim3 index_{0, 0, 0};
  std::uint32_t threads_ = 0;
  std::uint32_t live_ = 0;
  std::uint32_t smid_ = 0;
  std::uint64_t ran_ = 0;  // warp instructions since it began
  std::uint32_t pc_ = 0;   // of the warp that ran last
  std::uint64_t unpolled_warp_instructions_ = 0;
  std::uint64_t unpolled_thread_instructions_ = 0;
  std::vector<std::unique_ptr<Warp>> warps_{};
  std::unique_ptr<std::byte[]> shared_{};
  std::unique_ptr<BlockWatch> watch_state_;
  std::array<Barrier, kAllBarriers> barriers_{};
  std::vector<BulkCopy> bulk_copies_{};
  MbarrierWaits waits_{};
  // What a warp does of its slice when all have just left a barrier.
  static constexpr std::int64_t kFirstSlice = 24;
  std::uint32_t leaving_ = 0;  // warps that have left a barrier, or begun, and not run since
  std::int64_t slice_ = 0;     // given to the warp that runs
};

}  // namespace assay::emulator
