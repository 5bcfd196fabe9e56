// The CUDA runtime of a machine without a GPU, as far as honest host code asks it: one device,
// whose work is done when a launch returns and whose memory is the host's. A function that is not
// here stays undefined, and loading the library names it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "cpu_process.h"

namespace assay {

// What the emulator pretends to be: an H200 (emulator.h).
constexpr int kThreadsPerBlock = 1024;
constexpr int kThreadsPerProcessor = 2048;
constexpr int kBlocksPerProcessor = 32;
constexpr std::size_t kSharedBytes = 48 << 10;
constexpr std::size_t kMostSharedBytes = 227 << 10;
constexpr std::size_t kSharedBytesOfProcessor = 228 << 10;
constexpr std::size_t kSharedBytesReserved = 1 << 10;  // of each block

inline cudaDeviceProp device_properties() {
  cudaDeviceProp one{};
  std::strcpy(one.name, "Assay emulator");
  one.major = 9;
  one.multiProcessorCount = 132;
  one.warpSize = 32;
  one.maxThreadsPerBlock = kThreadsPerBlock;
  one.maxThreadsPerMultiProcessor = kThreadsPerProcessor;
  one.maxBlocksPerMultiProcessor = kBlocksPerProcessor;
  one.maxThreadsDim[0] = one.maxThreadsDim[1] = 1024;
  one.maxThreadsDim[2] = 64;
  one.maxGridSize[0] = 2147483647;
  one.maxGridSize[1] = one.maxGridSize[2] = 65535;
  one.sharedMemPerBlock = kSharedBytes;
  one.sharedMemPerBlockOptin = kMostSharedBytes;
  one.sharedMemPerMultiprocessor = kSharedBytesOfProcessor;
  one.reservedSharedMemPerBlock = kSharedBytesReserved;
  one.regsPerBlock = one.regsPerMultiprocessor = 64 << 10;
  return one;
}

// What is not the largest dynamic shared memory is about speed, and there is none here.
inline cudaError_t set(Entry& entry, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > kMostSharedBytes) return cudaErrorInvalidValue;
  dynamic_shared_bytes()[entry.lowered] = static_cast<std::size_t>(value);
  return cudaSuccess;
}
inline cudaError_t set_cache(Entry&, cudaFuncCache) { return cudaSuccess; }

// By threads and dynamic shared memory alone: registers are the assembler's to say.
inline cudaError_t fit(Entry&, int* blocks, int threads, std::size_t shared_bytes) {
  if (threads <= 0 || threads > kThreadsPerBlock || shared_bytes > kMostSharedBytes) {
    return cudaErrorInvalidValue;
  }
  const int warps = (threads + 31) / 32;
  const auto by_shared =
      static_cast<int>(kSharedBytesOfProcessor / (shared_bytes + kSharedBytesReserved));
  *blocks = std::min({kThreadsPerProcessor / 32 / warps, by_shared, kBlocksPerProcessor});
  return cudaSuccess;
}

// These are the assembler's, too: whoever uses them finds no such function.
extern "C" cudaError_t cudaOccupancyMaxPotentialBlockSize();
template <class Function>
cudaError_t potential_block(int*, int*, Function*, std::size_t = 0, int = 0) {
  return cudaOccupancyMaxPotentialBlockSize();
}
template <class Function>
cudaError_t get_attributes(cudaFuncAttributes* attributes, Function* function) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(function));
}

// When it was recorded: what lies between two is the emulator's time and no GPU's.
using Moment = std::chrono::steady_clock::time_point;
inline Moment& moment_of(cudaEvent_t event) { return *reinterpret_cast<Moment*>(event); }

inline cudaError_t allocate(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*memory == nullptr) return cudaErrorMemoryAllocation;
  if (process().add != nullptr) process().add(*memory, bytes);
  return cudaSuccess;
}
inline cudaError_t release(void* memory) {
  if (memory != nullptr && process().remove != nullptr) process().remove(memory);
  std::free(memory);
  return cudaSuccess;
}

}  // namespace assay

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
inline cudaError_t CUDARTAPI cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

// Streams: what is put into one is done at once.
inline cudaError_t CUDARTAPI cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreate(stream);
}
inline cudaError_t CUDARTAPI cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
inline cudaError_t CUDARTAPI cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return cudaSuccess;
}

inline cudaError_t CUDARTAPI cudaEventCreate(cudaEvent_t* event) {
  *event = reinterpret_cast<cudaEvent_t>(new assay::Moment());
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
inline cudaError_t CUDARTAPI cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  assay::moment_of(event) = std::chrono::steady_clock::now();
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t CUDARTAPI cudaEventElapsedTime(float* ms, cudaEvent_t begin, cudaEvent_t end) {
  const auto between = assay::moment_of(end) - assay::moment_of(begin);
  *ms = std::chrono::duration<float, std::milli>(between).count();
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaEventDestroy(cudaEvent_t event) {
  delete &assay::moment_of(event);
  return cudaSuccess;
}

inline cudaError_t CUDARTAPI cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                        cudaMemcpyKind) {
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                             cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t CUDARTAPI cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                          std::size_t from_pitch, std::size_t width,
                                          std::size_t height, cudaMemcpyKind) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(static_cast<char*>(to) + row * to_pitch,
                 static_cast<const char*>(from) + row * from_pitch, width);
  }
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                               std::size_t from_pitch, std::size_t width,
                                               std::size_t height, cudaMemcpyKind kind,
                                               cudaStream_t) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t CUDARTAPI cudaMemset(void* memory, int value, std::size_t bytes) {
  std::memset(memory, value, bytes);
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaMemsetAsync(void* memory, int value, std::size_t bytes,
                                             cudaStream_t) {
  return cudaMemset(memory, value, bytes);
}

// Pinned, managed and plain memory are one here.
inline cudaError_t CUDARTAPI cudaMalloc(void** memory, std::size_t bytes) {
  return assay::allocate(memory, bytes);
}
inline cudaError_t CUDARTAPI cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) {
  return assay::allocate(memory, bytes);
}
inline cudaError_t CUDARTAPI cudaMallocHost(void** memory, std::size_t bytes) {
  return assay::allocate(memory, bytes);
}
inline cudaError_t CUDARTAPI cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return assay::allocate(memory, bytes);
}
inline cudaError_t CUDARTAPI cudaMallocManaged(void** memory, std::size_t bytes, unsigned) {
  return assay::allocate(memory, bytes);
}
inline cudaError_t CUDARTAPI cudaFree(void* memory) { return assay::release(memory); }
inline cudaError_t CUDARTAPI cudaFreeAsync(void* memory, cudaStream_t) {
  return assay::release(memory);
}
inline cudaError_t CUDARTAPI cudaFreeHost(void* memory) { return assay::release(memory); }

inline cudaError_t CUDARTAPI cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = assay::device_properties();
  return cudaSuccess;
}
inline cudaError_t CUDARTAPI cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  static const cudaDeviceProp device = assay::device_properties();
  const std::pair<cudaDeviceAttr, std::size_t> kKnown[] = {
      {cudaDevAttrMaxThreadsPerBlock, device.maxThreadsPerBlock},
      {cudaDevAttrMaxThreadsPerMultiProcessor, device.maxThreadsPerMultiProcessor},
      {cudaDevAttrMaxBlocksPerMultiprocessor, device.maxBlocksPerMultiProcessor},
      {cudaDevAttrMaxBlockDimX, device.maxThreadsDim[0]},
      {cudaDevAttrMaxBlockDimY, device.maxThreadsDim[1]},
      {cudaDevAttrMaxBlockDimZ, device.maxThreadsDim[2]},
      {cudaDevAttrMaxGridDimX, device.maxGridSize[0]},
      {cudaDevAttrMaxGridDimY, device.maxGridSize[1]},
      {cudaDevAttrMaxGridDimZ, device.maxGridSize[2]},
      {cudaDevAttrWarpSize, device.warpSize},
      {cudaDevAttrMultiProcessorCount, device.multiProcessorCount},
      {cudaDevAttrMaxSharedMemoryPerBlock, device.sharedMemPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, device.sharedMemPerBlockOptin},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, device.sharedMemPerMultiprocessor},
      {cudaDevAttrReservedSharedMemoryPerBlock, device.reservedSharedMemPerBlock},
      {cudaDevAttrMaxRegistersPerBlock, device.regsPerBlock},
      {cudaDevAttrMaxRegistersPerMultiprocessor, device.regsPerMultiprocessor},
      {cudaDevAttrComputeCapabilityMajor, device.major},
      {cudaDevAttrComputeCapabilityMinor, device.minor},
      {cudaDevAttrCooperativeLaunch, 1}};
  for (const auto& [which, known] : kKnown) {
    if (which != attribute) continue;
    *value = static_cast<int>(known);
    return cudaSuccess;
  }
  throw std::runtime_error("cudaDeviceGetAttribute: attribute " + std::to_string(attribute) +
                           " has no stand-in on the CPU");
}
}
