// Hardware counters of one launch on a GPU; what CUPTI records of it without them, if they cannot
// be read. Of a sequence it is the launch that takes the most time: sums over several would say
// what each did, shares of a peak added up nothing at all.
//
// Owned by a kernel runner, which times nothing once it was asked to count; one thread.
#pragma once

#include <functional>
#include <optional>

#include "engine/runner/device.h"
#include "engine/runner/gpu_context.h"
#include "engine/runner/gpu_sequence.h"

namespace assay::runner {

class GpuCounting {
 public:
  // Borrows it.
  explicit GpuCounting(GpuContext& context) : context_(context) {}

  // Each pass begins with the arena as it is now and cold caches. `function` is ready to be
  // launched. Throws cuda::DriverError.
  [[nodiscard]] Profiled profile(cuda::Handle function, const emulator::Launch& launch,
                                 Arena& arena, const CounterRequest& request);
  // Likewise; the sequence is loaded, works in memory of its own, and the arena stays as it is.
  [[nodiscard]] Profiled profile(const GpuSequence& work, Arena& arena,
                                 const CounterRequest& request);
  void ready(const CounterRequest& request);

 private:
  struct Repeated {
    const std::string& kernel;
    CounterPass pass{};
  };
  void count(const Repeated& repeated, const CounterRequest& request, Profiled& profiled);
  void record(const Repeated& repeated, const CounterRequest& request, Profiled& profiled) const;
  void count_groups(const CounterRequest& request, Profiled& profiled);

  GpuContext& context_;
  std::optional<PassCounts> costs_{};
};

}  // namespace assay::runner
