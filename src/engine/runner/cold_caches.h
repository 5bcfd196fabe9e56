// What a kernel that is counted begins with: none of its data in the L2 cache, and nothing there
// that still has to be written; its pages known to every multiprocessor.
//
// Emptying the cache before a pass of CUPTI's is not enough: beginning the pass leaves 7 MB of
// written lines there, which go to memory while the kernel runs (2.5 us of its 50, and counted as
// its own), and makes the device forget its address translations. See benchmarks/RESULTS.md.
//
// Owned by one runner; one thread.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "engine/runner/gpu_context.h"
#include "engine/runner/l2_flush.h"
#include "engine/runner/page_touch.h"

namespace assay::runner {

class ColdCaches {
 public:
  // Throws cuda::DriverError when the device has not the memory.
  explicit ColdCaches(const GpuContext& context);

  // Queues emptying the L2, for a kernel whose memory has that many bytes; answers the driver's
  // result.
  [[nodiscard]] int queue(std::size_t worked_on_bytes) { return flush_.queue(worked_on_bytes); }
  // For once a pass has begun, before a kernel that works on that memory: see CounterPass::settle.
  // Borrows this. Nothing where the driver compiles no PTX.
  [[nodiscard]] std::vector<std::function<int()>> settling(
      cuda::Address address, std::size_t bytes, std::chrono::steady_clock::time_point until);

 private:
  const GpuContext* context_;
  L2Flush flush_;
  PageTouch touch_;
};

}  // namespace assay::runner
