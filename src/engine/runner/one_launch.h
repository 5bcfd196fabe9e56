// A program's one kernel, as it is timed: queued at whatever place the run is to work in. Borrows
// all it is made of; used by the device's thread for one turn.
#pragma once

#include <string>

#include "engine/runner/device.h"
#include "engine/runner/gpu_textures.h"
#include "engine/runner/gpu_timer.h"

namespace assay::runner {

class OneLaunch final : public GpuWork {
 public:
  OneLaunch(const GpuContext& context, cuda::Handle function, const TimedLaunch& launch);
  [[nodiscard]] int prepare(cuda::Address place) const override;
  [[nodiscard]] int queue(cuda::Address place) const override;
  [[nodiscard]] std::string identity() const override;

 private:
  const GpuContext& context_;
  cuda::Handle function_;
  const TimedLaunch& launch_;
  mutable GpuTextures textures_;  // grows with the places that are met
};

}  // namespace assay::runner
