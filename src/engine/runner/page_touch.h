// Reads a word of every page of some memory on every multiprocessor. When CUPTI begins a pass the
// device forgets its address translations, and a kernel that looks them up anew begins 0.4 us later
// than it does anywhere else: see benchmarks/RESULTS.md.
//
// Owned by one runner; one thread.
#pragma once

#include "engine/runner/gpu_context.h"

namespace assay::runner {

class PageTouch {
 public:
  explicit PageTouch(const GpuContext& context);

  // Whether there is such a kernel: not where the driver compiles no PTX.
  [[nodiscard]] bool exists() const { return kernel_ != nullptr; }
  // Launches it, and nothing else; answers the driver's result. REQUIRES exists().
  [[nodiscard]] int queue(cuda::Address address, std::size_t bytes) const;

 private:
  const GpuContext* context_;
  cuda::Handle kernel_ = nullptr;
};

}  // namespace assay::runner
