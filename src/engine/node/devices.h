// Which device a job runs on: one of the GPUs that were found, each with its pool of runners and
// the guard that keeps jobs from one that does not work, or the emulator. Jobs that may run on any
// GPU are spread over those that work. Made once the isolation is known; any thread after that.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "engine/node/device_guard.h"
#include "engine/node/device_loads.h"
#include "engine/node/ended.h"
#include "engine/node/engine.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/gpus.h"

namespace assay::node {

class Devices {
 public:
  // Proves one GPU (device_guard.h).
  using MakeCanary = std::function<DeviceGuard::Canary(GpuPool& pool)>;

  // Looks for GPUs unless `preferred` is the emulator; blocks for that long. `preferred` is what
  // "auto" means: "auto" itself for any GPU that works. `keep_warm`: see gpu_pool.h. Borrows
  // `runners`.
  Devices(const Runners& runners, const std::string& preferred,
          std::chrono::seconds keep_warm = GpuPool::kKeptWarm);
  // These GPUs, proved in that way.
  Devices(const Runners& runners, std::string preferred, Gpus gpus, const MakeCanary& canary,
          std::chrono::seconds keep_warm = GpuPool::kKeptWarm);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  [[nodiscard]] const Gpus& gpus() const { return gpus_; }
  // The same, with what their guards have seen as `health` and how many jobs they have as `jobs`
  // among each one's facts.
  [[nodiscard]] Gpus told() const;

  // Compiling for a device needs nothing of it.
  enum class Use { compiles, runs };
  // What a job was given, for as long as it runs.
  struct Chosen {
    GpuPool* pool = nullptr;   // null for the emulator
    DeviceLoads::Seat seat{};  // null for the emulator, and where nothing runs
  };
  // `wanted`: auto, emulator, gpu:N, or gpu for any GPU. Where something is to run, a device that
  // is in doubt is proved first, which takes half a second, and one that does not work is no
  // device.
  [[nodiscard]] std::variant<Chosen, Ended> choose(const std::string& wanted, Use use,
                                                   const std::string& client,
                                                   const std::stop_token& stop) const;
  // After a job on it: what failed without a kernel's doing makes the device doubtful, and what was
  // made ready there is given up.
  void note(GpuPool& pool, const Conclusion& conclusion) const;

 private:
  struct Place {
    std::unique_ptr<GpuPool> pool{};
    std::unique_ptr<DeviceGuard> guard{};
  };

  [[nodiscard]] std::size_t index_of(const std::string& device) const;
  [[nodiscard]] Ended unknown(const std::string& device) const;
  [[nodiscard]] std::variant<Chosen, Ended> any_usable(Use use, const std::string& client,
                                                       const std::stop_token& stop) const;

  std::string preferred_;
  Gpus gpus_;
  std::vector<Place> places_{};  // one for each GPU, in order
  mutable DeviceLoads loads_;
};

// Whether a device must prove itself after a job that ended so: ours failed there, or something of
// the job's is running still.
[[nodiscard]] bool speaks_against_device(const Conclusion& conclusion);

}  // namespace assay::node
