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
#include "variables.h"

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
  decltype(&cuFuncSetCacheConfig) set_cache = nullptr;
  decltype(&cuFuncGetAttribute) get = nullptr;
  decltype(&cuModuleGetGlobal) variable = nullptr;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) active_blocks = nullptr;
  decltype(&cuOccupancyMaxPotentialBlockSize) potential_block = nullptr;
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
    find(library, "cuFuncSetCacheConfig", set_cache);
    find(library, "cuFuncGetAttribute", get);
    find(library, "cuModuleGetGlobal_v2", variable);
    find(library, "cuOccupancyMaxActiveBlocksPerMultiprocessor", active_blocks);
    find(library, "cuOccupancyMaxPotentialBlockSize", potential_block);
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

// The runtime's numbers are the driver's.
inline cudaError_t told(CUresult result) { return static_cast<cudaError_t>(result); }

inline cudaError_t set(Entry& entry, cudaFuncAttribute attribute, int value) {
  const auto function = static_cast<CUfunction>(entry.function);
  return told(Driver::one().set(function, static_cast<CUfunction_attribute>(attribute), value));
}
inline cudaError_t set_cache(Entry& entry, cudaFuncCache preferred) {
  const auto function = static_cast<CUfunction>(entry.function);
  return told(Driver::one().set_cache(function, static_cast<CUfunc_cache>(preferred)));
}
inline cudaError_t fit(Entry& entry, int* blocks, int threads, std::size_t shared_bytes) {
  const auto function = static_cast<CUfunction>(entry.function);
  return told(Driver::one().active_blocks(blocks, function, threads, shared_bytes));
}

template <class Function>
cudaError_t potential_block(int* grid, int* block, Function* kernel, std::size_t shared_bytes = 0,
                            int most_threads = 0) {
  const auto function =
      static_cast<CUfunction>(entry_of(reinterpret_cast<const void*>(kernel)).function);
  return told(
      Driver::one().potential_block(grid, block, function, nullptr, shared_bytes, most_threads));
}

template <class Function>
cudaError_t get_attributes(cudaFuncAttributes* attributes, Function* kernel) {
  const auto function =
      static_cast<CUfunction>(entry_of(reinterpret_cast<const void*>(kernel)).function);
  *attributes = {};
  CUresult result = CUDA_SUCCESS;
  const auto get = [&](CUfunction_attribute which) {
    int value = 0;
    const CUresult got = Driver::one().get(&value, which, function);
    if (got != CUDA_SUCCESS) result = got;
    return value;
  };
  attributes->sharedSizeBytes = get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes->constSizeBytes = get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes->localSizeBytes = get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes->maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes->preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  return told(result);
}

inline cudaError_t copy_variable(Variable& variable, const Copy& copy) {
  if (variable.address == nullptr) return cudaErrorInvalidSymbol;
  char* const there = variable.address + copy.offset;
  void* const to = copy.is_to_variable ? there : copy.memory;
  const void* const from = copy.is_to_variable ? copy.memory : there;
  const cudaError_t begun = cudaMemcpyAsync(to, from, copy.bytes, copy.kind, copy.stream);
  return begun == cudaSuccess && copy.waits ? cudaStreamSynchronize(copy.stream) : begun;
}

}  // namespace assay

// Nothing, or what went wrong; kept until the next call. `lowered`: a name for each kernel, then
// for each variable.
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
    for (assay::Variable* variable : assay::variables()) {
      const char* const name = lowered[assay::entries().size() + variable->number];
      CUdeviceptr address = 0;
      std::size_t bytes = 0;
      assay::demand(assay::Driver::one().variable(&address, &bytes, module, name), name);
      variable->address = reinterpret_cast<char*>(address);
    }
  } catch (const std::exception& error) {
    failure = error.what();
    return failure.c_str();
  }
  return nullptr;
}
