// Threads that wait for an mbarrier in a loop of their own: whether the loop can end without
// anybody else doing something. If all of a block wait so, none of them ever will.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "engine/emulator/warp.h"

namespace assay::emulator {

// What a block has seen of its mbarriers.
class MbarrierWaits {
 public:
  void restart() { *this = {}; }
  // A test found that its phase goes on.
  void failed() { ++failed_; }
  void changed(const std::byte* barrier, bool new_phase) {
    failed_ = 0;
    if (new_phase) arrived_.erase(barrier);
  }
  void arrived(const std::byte* barrier, std::size_t bytes) { arrived_[barrier] += bytes; }
  // In the running phase.
  [[nodiscard]] std::size_t bytes_arrived(const std::byte* barrier) const {
    const auto found = arrived_.find(barrier);
    return found == arrived_.end() ? 0 : found->second;
  }
  // Nothing has changed for so long that it is worth a look whether it can.
  [[nodiscard]] bool are_long() const { return failed_ >= patience_; }
  void be_more_patient() {
    patience_ *= 2;
    failed_ = 0;
  }

 private:
  std::uint64_t failed_ = 0;  // since any barrier changed
  std::uint64_t patience_ = 512;
  std::unordered_map<const std::byte*, std::size_t> arrived_{};
};

struct VainWait {
  std::uint32_t pc = 0;  // of the test
  unsigned lane = 0;     // the first that it tells to wait
  const std::byte* barrier = nullptr;
};

// The wait of a group that is ready to run; nothing if there is any way out of its loop, or if the
// loop does more than look at mbarriers, at the time and at its own registers.
[[nodiscard]] std::optional<VainWait> vain_wait(Warp& w, const Group& group);

}  // namespace assay::emulator
