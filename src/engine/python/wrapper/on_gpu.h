// The half of a wrapper that works on a GPU: its launches go through the driver, with the machine
// code that the engine's compiler made, on the stream that the source names.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda.h>
#include <dlfcn.h>

#include "launches.h"

// ATen's own header wants those of three libraries that a toolkit need not have.
#if __has_include(<cublas_v2.h>) && __has_include(<cusolverDn.h>) && __has_include(<cusparse.h>)
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/Exceptions.h>
#else
namespace at::cuda {
using namespace c10::cuda;
TORCH_CUDA_CPP_API cudaDeviceProp* getCurrentDeviceProperties();
}  // namespace at::cuda
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#endif

namespace assay {

struct Driver {
  decltype(&cuModuleLoadData) load = nullptr;
  decltype(&cuModuleGetFunction) function = nullptr;
  decltype(&cuFuncSetAttribute) set = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;
  decltype(&cuLaunchCooperativeKernel) launch_cooperative = nullptr;
  decltype(&cuGetErrorString) explain = nullptr;

  static Driver& one() {
    static Driver driver;
    return driver;
  }

 private:
  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    find(library, "cuModuleLoadData", load);
    find(library, "cuModuleGetFunction", function);
    find(library, "cuFuncSetAttribute", set);
    find(library, "cuLaunchKernel", launch);
    find(library, "cuLaunchCooperativeKernel", launch_cooperative);
    find(library, "cuGetErrorString", explain);
  }
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(name);
  }
};

inline void demand(CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  Driver::one().explain(result, &text);
  throw std::runtime_error(what + ": " + text);
}

inline void start(Entry& entry, const Configuration& configuration, const void* const* arguments,
                  const std::size_t*, std::size_t) {
  constexpr std::size_t kPlainSharedBytes = 48 << 10;
  const Driver& driver = Driver::one();
  const auto function = static_cast<CUfunction>(entry.function);
  if (function == nullptr) throw std::runtime_error("launched while loading");
  if (configuration.shared_bytes > kPlainSharedBytes) {
    demand(driver.set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                      static_cast<int>(configuration.shared_bytes)),
           "shared memory of " + entry.name);
  }
  const dim3& grid = configuration.grid;
  const dim3& block = configuration.block;
  const auto shared = static_cast<unsigned>(configuration.shared_bytes);
  void** passed = const_cast<void**>(arguments);
  demand(configuration.cooperative
             ? driver.launch_cooperative(function, grid.x, grid.y, grid.z, block.x, block.y,
                                         block.z, shared, configuration.stream, passed)
             : driver.launch(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
                             configuration.stream, passed, nullptr),
         "launch of " + entry.name);
}

}  // namespace assay

// Nothing, or what went wrong; kept until the next call. `lowered`: a name for each kernel.
ASSAY_EXPORTED const char* assay_load_kernels(const void* cubin, const char* const* lowered) {
  static std::string failure;
  try {
    CUmodule module = nullptr;
    assay::demand(assay::Driver::one().load(&module, cubin), "loading the kernels");
    for (std::size_t i = 0; i < assay::entries().size(); ++i) {
      CUfunction function = nullptr;
      assay::demand(assay::Driver::one().function(&function, module, lowered[i]), lowered[i]);
      assay::entries()[i]->function = function;
    }
  } catch (const std::exception& error) {
    failure = error.what();
    return failure.c_str();
  }
  return nullptr;
}
