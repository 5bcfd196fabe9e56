// Hardware counters of one launch on a GPU; what CUPTI records of it without them, if they cannot
// be read.
//
// Owned by a kernel runner, which times nothing once it was asked to count; one thread.
#pragma once

#include <optional>

#include "engine/runner/device.h"
#include "engine/runner/gpu_context.h"

namespace assay::runner {

class GpuCounting {
 public:
  // Borrows it.
  explicit GpuCounting(const GpuContext& context) : context_(context) {}

  // Each pass begins with the arena as it is now and cold caches. `function` is ready to be
  // launched. Throws cuda::DriverError.
  [[nodiscard]] Profiled profile(cuda::Handle function, const emulator::Launch& launch,
                                 Arena& arena, const CounterRequest& request);
  void ready(const CounterRequest& request);

 private:
  void count_groups(const CounterRequest& request, Profiled& profiled);

  const GpuContext& context_;
  std::optional<PassCounts> costs_{};
};

}  // namespace assay::runner
