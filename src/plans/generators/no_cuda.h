// Whether a message says that this machine has no CUDA: what torch, cupy, triton, numba, jax and
// the driver say when there is no device or no driver. Pure; any thread.
#pragma once

#include <string>

namespace assay::generators {

[[nodiscard]] bool says_no_cuda(const std::string& message);

}  // namespace assay::generators
