// The half of a wrapper that works on CPU tensors: its launches go to the emulator that the process
// holds (engine/python/launches.cc), and what a source asks of the CUDA runtime and of torch's CUDA
// parts is answered as one device would. A function of the runtime that is not here stays
// undefined, and loading the library names it.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>

#include "launches.h"

namespace assay {

// What the process does for a wrapper; given once, after loading.
struct Process {
  int module = -1;
  // 0, or `failure` says why not.
  int (*launch)(int module, const char* entry, const std::uint32_t* grid,
                const std::uint32_t* block, std::size_t shared_bytes, const void* const* arguments,
                const std::size_t* sizes, std::size_t count) = nullptr;
  const char* (*failure)() = nullptr;
  void (*add)(const void* memory, std::size_t bytes) = nullptr;
  void (*remove)(const void* memory) = nullptr;
};
inline Process& process() {
  static Process one;
  return one;
}

inline void start(Entry& entry, const Configuration& configuration, const void* const* arguments,
                  const std::size_t* sizes, std::size_t count) {
  const std::uint32_t grid[] = {configuration.grid.x, configuration.grid.y, configuration.grid.z};
  const std::uint32_t block[] = {configuration.block.x, configuration.block.y,
                                 configuration.block.z};
  Process& host = process();
  const char* name = entry.lowered.c_str();
  if (host.launch == nullptr ||
      host.launch(host.module, name, grid, block, configuration.shared_bytes, arguments, sizes,
                  count) != 0) {
    throw std::runtime_error(host.failure != nullptr ? host.failure() : "launched while loading");
  }
}

// Kernels may touch what was allocated and nothing beside it.
class Watched final : public c10::Allocator {
 public:
  explicit Watched(c10::Allocator* inner) : inner_(inner) {}
  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr inner = inner_->allocate(bytes);
    void* memory = inner.get();
    if (memory == nullptr) return inner;
    process().add(memory, bytes);
    const c10::Device device = inner.device();
    return {memory, new c10::DataPtr(std::move(inner)), &Watched::release, device};
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static void release(void* context) {
    auto* inner = static_cast<c10::DataPtr*>(context);
    process().remove(inner->get());
    delete inner;
  }
  c10::Allocator* inner_;
};

}  // namespace assay

ASSAY_EXPORTED void assay_attach(const assay::Process* process, int watches_memory) {
  assay::process() = *process;
  // Never destroyed: tensors outlive everything.
  if (watches_memory != 0) {
    c10::SetCPUAllocator(new assay::Watched(c10::GetCPUAllocator()), UINT8_MAX);
  }
}
ASSAY_EXPORTED void assay_name_kernel(std::size_t index, const char* lowered) {
  assay::entries().at(index)->lowered = lowered;
}

// The runtime, of one device whose work is done when a launch returns.
extern "C" {
inline cudaError_t CUDARTAPI cudaGetLastError() { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaPeekAtLastError() { return cudaSuccess; }
inline const char* CUDARTAPI cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "error";
}
inline const char* CUDARTAPI cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaErrorUnknown";
}
inline cudaError_t CUDARTAPI cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                        cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                             cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                             cudaStream_t) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMalloc(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  assay::process().add(*memory, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaFree(void* memory) {
  if (memory != nullptr) assay::process().remove(memory);
  std::free(memory);
  return cudaSuccess;
}
// What the emulator pretends to be: an H200 (emulator.h).
inline cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = 132;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = 48 << 10;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 << 10;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}
}

namespace c10::cuda {

class CUDAStream {
 public:
  operator cudaStream_t() const { return nullptr; }  // as torch's is
  cudaStream_t stream() const { return nullptr; }
  c10::DeviceIndex device_index() const { return 0; }
  bool query() const { return true; }
  void synchronize() const {}
};
inline CUDAStream getCurrentCUDAStream(c10::DeviceIndex = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(c10::DeviceIndex = -1) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, c10::DeviceIndex = -1) { return {}; }
inline void setCurrentCUDAStream(CUDAStream) {}
inline c10::DeviceIndex current_device() { return 0; }
inline c10::DeviceIndex device_count() { return 1; }
inline void device_synchronize() {}

struct CUDAGuard {
  explicit CUDAGuard(c10::DeviceIndex) {}
  explicit CUDAGuard(c10::Device) {}
  void set_device(c10::Device) {}
  void set_index(c10::DeviceIndex) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<c10::Device>) {}
  explicit OptionalCUDAGuard(std::optional<c10::DeviceIndex>) {}
  void set_device(c10::Device) {}
};
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(CUDAStream) {}
};

}  // namespace c10::cuda

namespace at::cuda {
using namespace c10::cuda;
inline cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp one{};
    std::strcpy(one.name, "Assay emulator");
    one.major = 9;
    one.multiProcessorCount = 132;
    one.warpSize = 32;
    one.maxThreadsPerBlock = 1024;
    one.maxThreadsPerMultiProcessor = 2048;
    one.sharedMemPerBlock = 48 << 10;
    one.sharedMemPerBlockOptin = 227 << 10;
    return one;
  }();
  return &properties;
}
inline int warp_size() { return 32; }
}  // namespace at::cuda

#define C10_CUDA_CHECK(call) TORCH_CHECK((call) == cudaSuccess, "CUDA error")
#define C10_CUDA_CHECK_WARN(call) static_cast<void>(call)
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)

// From here on the device is the CPU: what a source asks of its tensors and where it makes new
// ones.
#define is_cuda is_cpu
#define kCUDA kCPU
#define CUDA CPU
#define cuda() cpu()
