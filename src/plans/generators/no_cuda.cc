#include "plans/generators/no_cuda.h"

#include <algorithm>
#include <array>

#include "plans/lower_case.h"

namespace assay::generators {
namespace {

// In small letters.
constexpr std::array<const char*, 43> kTexts{
    // Scripts in their own words.
    "cuda is required", "cuda required", "requires cuda", "require cuda", "requires a cuda",
    "needs cuda", "need cuda", "cuda is not available", "cuda not available", "cuda is unavailable",
    "cuda unavailable", "no cuda device", "no gpu available", "no gpu detected",
    "no gpus available", "no gpus found", "gpu is not available", "gpu not available",
    "requires a gpu", "gpu is required",
    // The driver and the runtime, as torch, cupy and numba pass them on.
    "no cuda-capable device", "no cuda capable device", "cudaerrornodevice", "cuda_error_no_device",
    "cudaerrorinsufficientdriver", "cuda driver version is insufficient",
    "cuda driver library cannot be found", "nvml shared library not found",
    // torch.
    "no nvidia driver", "not compiled with cuda", "no cuda gpus", "cuda.is_available() is false",
    "nvidia driver on your system is too old", "might not have a cuda gpu",
    "accelerator device when none is available",
    // Libraries that come with the driver or the toolkit.
    "libcuda.so", "libcudart.so", "libnvrtc.so", "libcublas.so", "cupy failed to load",
    // triton.
    "0 active drivers", "no active drivers",
    // jax.
    "no gpu/tpu found"};

}  // namespace

bool says_no_cuda(const std::string& message) {
  const std::string small = plans::lower_case(message);
  return std::any_of(kTexts.begin(), kTexts.end(),
                     [&](const char* text) { return small.find(text) != std::string::npos; });
}

}  // namespace assay::generators
