// Which device a job runs on: one of the GPUs that were found, with its pool of runners and the
// guard that keeps jobs from one that does not work, or the emulator. Made once the isolation is
// known; any thread after that.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>

#include "engine/node/device_guard.h"
#include "engine/node/ended.h"
#include "engine/node/engine.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/gpus.h"

namespace assay::node {

class Devices {
 public:
  // Looks for GPUs unless `preferred` is the emulator; blocks for that long. `preferred` is what
  // "auto" means: "auto" itself for the first GPU that works. Borrows `runners`.
  Devices(const Runners& runners, std::string preferred);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  [[nodiscard]] const Gpus& gpus() const { return gpus_; }
  // The same, with what their guards have seen as `health` among each one's facts.
  [[nodiscard]] Gpus told() const;

  // Compiling for a device needs nothing of it.
  enum class Use { compiles, runs };
  // The pool of a GPU, or null for the emulator. Where something is to run, a device that is in
  // doubt is proved first, which takes half a second, and one that does not work is no device.
  [[nodiscard]] std::variant<GpuPool*, Ended> choose(const std::string& wanted, Use use,
                                                     const std::stop_token& stop) const;
  // After a job on it: what failed without a kernel's doing makes the device doubtful, and what was
  // made ready there is given up.
  void note(GpuPool& pool, const Conclusion& conclusion) const;

 private:
  struct Place {
    std::unique_ptr<GpuPool> pool{};
    std::unique_ptr<DeviceGuard> guard{};
  };

  [[nodiscard]] Ended unknown(const std::string& device) const;
  [[nodiscard]] std::variant<GpuPool*, Ended> first_usable(Use use,
                                                           const std::stop_token& stop) const;

  std::string preferred_;
  Gpus gpus_;
  std::map<std::string, Place> places_{};
};

// Whether a device must prove itself after a job that ended so: ours failed there, or something of
// the job's is running still.
[[nodiscard]] bool speaks_against_device(const Conclusion& conclusion);

}  // namespace assay::node
