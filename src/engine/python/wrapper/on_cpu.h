// The half of a wrapper that works on CPU tensors: its launches go to the emulator that the process
// holds (engine/python/launches.cc), and what a source asks of torch's CUDA parts is answered as
// one device would, as cpu_runtime.h does for the CUDA runtime.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <cstring>

#include "cpu_process.h"
#include "cpu_runtime.h"

namespace assay {

// Kernels may touch what was allocated and nothing beside it. torch frees what it has taken raw
// (convolutions do) by the allocator that is there by then, so one that frees by address alone
// stays one: that of another may be older than this.
class Watched final : public c10::Allocator {
 public:
  explicit Watched(c10::Allocator* inner) : inner_(inner) { free_inner() = inner->raw_deleter(); }
  c10::DataPtr allocate(std::size_t bytes) override {
    c10::DataPtr inner = inner_->allocate(bytes);
    void* memory = inner.get();
    if (memory == nullptr) return inner;
    process().add(memory, bytes);
    const c10::Device device = inner.device();
    if (free_inner() != nullptr && inner.get_context() == memory) {
      (void)inner.release_context();
      return {memory, memory, &Watched::free, device};
    }
    return {memory, new c10::DataPtr(std::move(inner)), &Watched::release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return free_inner() != nullptr ? &Watched::free : nullptr;
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

 private:
  static c10::DeleterFnPtr& free_inner() {
    static c10::DeleterFnPtr function = nullptr;
    return function;
  }
  static void free(void* memory) {
    process().remove(memory);
    free_inner()(memory);
  }
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
  static cudaDeviceProp properties = assay::device_properties();
  return &properties;
}
inline int warp_size() { return 32; }
}  // namespace at::cuda

#define C10_CUDA_CHECK(call) TORCH_CHECK((call) == cudaSuccess, "CUDA error")
#define C10_CUDA_CHECK_WARN(call) static_cast<void>(call)
#define AT_CUDA_CHECK(call) C10_CUDA_CHECK(call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() static_cast<void>(0)

#include "cpu_names.h"
