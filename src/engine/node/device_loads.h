// How many jobs run on each GPU of a node, and which GPU a job is given that may run on any: the
// one with the fewest; of those the one that keeps a runner of the job's client; of those the
// first, whose spares are likeliest to be ready. A device that another engine has leased counts as
// one job more.
//
// Devices are numbered from 0, in the order in which their owner lists them. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace assay::node {

class DeviceLoads {
 public:
  explicit DeviceLoads(std::size_t devices) : counts_(devices) {}
  DeviceLoads(const DeviceLoads&) = delete;
  DeviceLoads& operator=(const DeviceLoads&) = delete;

  // One job's place on a device, until it is destroyed. Not to outlive the loads.
  struct Leave {
    std::size_t device = 0;
    void operator()(DeviceLoads* loads) const { loads->leave(device); }
  };
  using Seat = std::unique_ptr<DeviceLoads, Leave>;
  [[nodiscard]] static std::size_t device_of(const Seat& seat) { return seat.get_deleter().device; }

  // Of one device, as the chooser sees it.
  struct Candidate {
    bool may_serve = true;
    bool knows_client = false;
    bool held_elsewhere = false;  // leased by another engine
  };

  // A device that was named.
  [[nodiscard]] Seat join(std::size_t device);
  // The best of the candidates, one for each device; null if none may serve. Choosing and joining
  // are one step: jobs that come at once are spread too.
  [[nodiscard]] Seat join_best(std::span<const Candidate> candidates);

  struct Count {
    std::uint64_t running = 0;
    std::uint64_t served = 0;  // since the engine began, those that run among them
  };
  [[nodiscard]] Count count(std::size_t device) const;

 private:
  [[nodiscard]] Seat join_locked(std::size_t device);
  void leave(std::size_t device);

  mutable std::mutex mutex_{};
  std::vector<Count> counts_;
};

}  // namespace assay::node
