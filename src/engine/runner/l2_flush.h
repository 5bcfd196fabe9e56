// Empties the L2 cache of a kernel's data: reads 1.5 to 2 times its size of other memory. Reading,
// not writing: lines that were written would still have to go to memory while the kernel runs, and
// be counted and timed as if they were its own.
//
// Owned by one runner; one thread.
#pragma once

#include "engine/runner/gpu_context.h"

namespace assay::runner {

class L2Flush {
 public:
  explicit L2Flush(const GpuContext& context) : context_(&context), memory_(context) {}

  // Its kernel, which the driver assembles; does nothing the second time.
  void assemble();
  // Whether it is a kernel that reads: not where the driver compiles no PTX. REQUIRES assemble().
  [[nodiscard]] bool reads() const { return kernel_ != nullptr; }
  // Makes what it needs; throws cuda::DriverError when the device has not the memory.
  void prepare();
  // Queues one, for a kernel whose tensors have that many bytes; answers the driver's result.
  // REQUIRES prepare().
  [[nodiscard]] int queue(std::size_t worked_on_bytes);
  // Queues reading and writing all of it by a copy of the driver's, which is other code than ours:
  // a kernel that finds code can write to it (docs/trust.md), and in a cache that was never read
  // over its times would be less. What was written is on its way out still: queue() behind it.
  // REQUIRES prepare().
  [[nodiscard]] int sweep() const;
  // Queues clearing it: a kernel that has found it can leave there what its next run is to find.
  // Answers the driver's result.
  [[nodiscard]] int clear() const;

 private:
  const GpuContext* context_;
  GpuMemory memory_;
  bool assembled_ = false;
  cuda::Handle kernel_ = nullptr;  // null: the driver compiles no PTX, and memory is written
  unsigned blocks_ = 1;
};

}  // namespace assay::runner
