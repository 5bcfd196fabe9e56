#include "engine/node/device_loads.h"

#include <tuple>

namespace assay::node {

DeviceLoads::Seat DeviceLoads::join_locked(std::size_t device) {
  Count& count = counts_.at(device);
  ++count.running;
  ++count.served;
  return Seat(this, Leave{device});
}

DeviceLoads::Seat DeviceLoads::join(std::size_t device) {
  const std::lock_guard lock(mutex_);
  return join_locked(device);
}

DeviceLoads::Seat DeviceLoads::join_best(std::span<const Candidate> candidates) {
  const std::lock_guard lock(mutex_);
  std::optional<std::size_t> best;
  const auto cost = [&](std::size_t device) {
    const Candidate& one = candidates[device];
    const std::uint64_t jobs = counts_.at(device).running;
    // With jobs of ours on it, the lease that is held may be theirs.
    const std::uint64_t others = jobs == 0 && one.held_elsewhere ? 1 : 0;
    return std::tuple(jobs + others, one.knows_client ? 0 : 1);
  };
  for (std::size_t device = 0; device < candidates.size(); ++device) {
    if (!candidates[device].may_serve) continue;
    if (!best || cost(device) < cost(*best)) best = device;
  }
  return best ? join_locked(*best) : Seat();
}

void DeviceLoads::leave(std::size_t device) {
  const std::lock_guard lock(mutex_);
  --counts_.at(device).running;
}

DeviceLoads::Count DeviceLoads::count(std::size_t device) const {
  const std::lock_guard lock(mutex_);
  return counts_.at(device);
}

}  // namespace assay::node
