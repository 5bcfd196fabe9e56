// Which device a job runs on: one of the GPUs that were found, with its pool of runners, or the
// emulator. Made once the isolation is known; any thread after that.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>

#include "engine/node/ended.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/gpus.h"

namespace assay::node {

class Devices {
 public:
  // Looks for GPUs unless `preferred` is the emulator; blocks for that long. `preferred` is what
  // "auto" means: "auto" itself for the first GPU if there is one. Borrows `runners`.
  Devices(const Runners& runners, std::string preferred);
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  [[nodiscard]] const Gpus& gpus() const { return gpus_; }
  // The pool of a GPU, or null for the emulator.
  [[nodiscard]] std::variant<GpuPool*, Ended> choose(const std::string& wanted) const;

 private:
  std::string preferred_;
  Gpus gpus_;
  std::map<std::string, std::unique_ptr<GpuPool>> pools_{};
};

}  // namespace assay::node
