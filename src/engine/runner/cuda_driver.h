// The CUDA driver, found at run time: no CUDA header and no CUDA library is needed to build or
// start this program. Types and constants are those of the driver API (CUDA 12.4 to 13); handles
// are opaque.
//
// One per process; a runner's one thread calls it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace assay::runner::cuda {

using Address = std::uint64_t;
using Handle = void*;

// CUresult values that decide something here.
enum Result {
  kSuccess = 0,
  kOutOfMemory = 2,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,  // the driver's own, of a device that shows a screen too
  kIncompatibleTexturing = 703,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kTensorMemoryLeak = 721,
  kNotSupported = 801,
  kInvalidClusterSize = 912,
};

// CUdevice_attribute
enum Attribute {
  kClockRateKhz = 13,
  kMultiprocessors = 16,
  kComputeMode = 20,
  kMemoryClockRateKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kPageableMemoryAccess = 88,
  kMaxSharedPerBlockOptin = 97,
  kReservedSharedPerBlock = 111,
};

// CUfunction_attribute
enum FunctionAttribute {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
  kFunctionClusterWidth = 11,  // as __cluster_dims__ has it; 0: no clusters of its own
  kFunctionClusterHeight = 12,
  kFunctionClusterDepth = 13,
  kFunctionLargeClusters = 14,  // of more blocks than every device has
};

// CUlimit
enum Limit { kPrintfFifoBytes = 1, kPersistingL2Bytes = 6 };

// A call of ours that the driver refused. What a kernel does is never thrown.
class DriverError : public std::runtime_error {
 public:
  DriverError(int result, const std::string& what) : std::runtime_error(what), result_(result) {}
  [[nodiscard]] int result() const { return result_; }

 private:
  int result_;
};

// CUlaunchAttribute and CUlaunchConfig, as cuLaunchKernelEx takes them (CUDA driver API,
// since 11.8).
struct LaunchAttribute {
  static constexpr int kCooperative = 2;
  static constexpr int kClusterDimension = 4;
  int id = 0;
  int padding = 0;
  std::array<int, 16> value{};
};
struct LaunchConfig {
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  unsigned shared_bytes = 0;
  Handle stream = nullptr;
  const LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

// CUDA_RESOURCE_DESC of linear memory and of pitched rows, whose members lie at the same places,
// and CUDA_TEXTURE_DESC (CUDA driver API, since 5.0).
struct TextureResource {
  static constexpr int kLinear = 2;
  static constexpr int kPitched = 3;
  int type = kLinear;
  int padding = 0;
  Address address = 0;
  int format = 0;  // CUarray_format
  unsigned channels = 1;
  std::size_t width = 0;  // in texels; of linear memory in bytes
  std::size_t height = 0;
  std::size_t pitch_bytes = 0;
  std::array<int, 22> unused{};
  unsigned flags = 0;
  int padding_behind = 0;
};
static_assert(sizeof(TextureResource) == 144);
struct TextureDescription {
  static constexpr unsigned kReadAsInteger = 1;
  static constexpr unsigned kNormalizedCoordinates = 2;
  std::array<int, 3> address_mode{};  // CUaddress_mode
  int filter_mode = 0;                // CUfilter_mode: 1 is linear
  unsigned flags = 0;
  unsigned max_anisotropy = 0;
  int mipmap_filter_mode = 0;
  std::array<float, 3> mipmap_levels{};
  std::array<float, 4> border_colour{};
  std::array<int, 12> unused{};
};
static_assert(sizeof(TextureDescription) == 104);

// X(name without "cu", exported symbol, type)
#define ASSAY_CUDA_FUNCTIONS(X)                                                                    \
  X(Init, "cuInit", int (*)(unsigned))                                                             \
  X(DriverGetVersion, "cuDriverGetVersion", int (*)(int*))                                         \
  X(GetErrorName, "cuGetErrorName", int (*)(int, const char**))                                    \
  X(GetErrorString, "cuGetErrorString", int (*)(int, const char**))                                \
  X(DeviceGetCount, "cuDeviceGetCount", int (*)(int*))                                             \
  X(DeviceGet, "cuDeviceGet", int (*)(int*, int))                                                  \
  X(DeviceGetName, "cuDeviceGetName", int (*)(char*, int, int))                                    \
  X(DeviceGetUuid, "cuDeviceGetUuid_v2", int (*)(unsigned char*, int))                             \
  X(DeviceGetPciBusId, "cuDeviceGetPCIBusId", int (*)(char*, int, int))                            \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", int (*)(std::size_t*, int))                             \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", int (*)(int*, int, int))                           \
  X(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", int (*)(Handle*, int))                           \
  X(CtxSetCurrent, "cuCtxSetCurrent", int (*)(Handle))                                             \
  X(CtxSetLimit, "cuCtxSetLimit", int (*)(int, std::size_t))                                       \
  X(CtxSynchronize, "cuCtxSynchronize", int (*)())                                                 \
  X(MemAlloc, "cuMemAlloc_v2", int (*)(Address*, std::size_t))                                     \
  X(MemFree, "cuMemFree_v2", int (*)(Address))                                                     \
  X(MemGetAllocationGranularity, "cuMemGetAllocationGranularity",                                  \
    int (*)(std::size_t*, const void*, int))                                                       \
  X(MemCreate, "cuMemCreate",                                                                      \
    int (*)(std::uint64_t*, std::size_t, const void*, unsigned long long))                         \
  X(MemRelease, "cuMemRelease", int (*)(std::uint64_t))                                            \
  X(MemExportToShareableHandle, "cuMemExportToShareableHandle",                                    \
    int (*)(void*, std::uint64_t, int, unsigned long long))                                        \
  X(MemImportFromShareableHandle, "cuMemImportFromShareableHandle",                                \
    int (*)(std::uint64_t*, void*, int))                                                           \
  X(MemAddressReserve, "cuMemAddressReserve",                                                      \
    int (*)(Address*, std::size_t, std::size_t, Address, unsigned long long))                      \
  X(MemAddressFree, "cuMemAddressFree", int (*)(Address, std::size_t))                             \
  X(MemMap, "cuMemMap",                                                                            \
    int (*)(Address, std::size_t, std::size_t, std::uint64_t, unsigned long long))                 \
  X(MemUnmap, "cuMemUnmap", int (*)(Address, std::size_t))                                         \
  X(MemSetAccess, "cuMemSetAccess", int (*)(Address, std::size_t, const void*, std::size_t))       \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", int (*)(Address, const void*, std::size_t, Handle))   \
  X(MemcpyDtoH, "cuMemcpyDtoH_v2", int (*)(void*, Address, std::size_t))                           \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", int (*)(Address, Address, std::size_t, Handle))       \
  X(MemsetD32Async, "cuMemsetD32Async", int (*)(Address, unsigned, std::size_t, Handle))           \
  X(MemsetD8Async, "cuMemsetD8Async", int (*)(Address, unsigned char, std::size_t, Handle))        \
  X(MemsetD16Async, "cuMemsetD16Async", int (*)(Address, unsigned short, std::size_t, Handle))     \
  X(ModuleLoadData, "cuModuleLoadData", int (*)(Handle*, const void*))                             \
  X(ModuleUnload, "cuModuleUnload", int (*)(Handle))                                               \
  X(ModuleGetFunction, "cuModuleGetFunction", int (*)(Handle*, Handle, const char*))               \
  X(FuncSetAttribute, "cuFuncSetAttribute", int (*)(Handle, int, int))                             \
  X(FuncGetAttribute, "cuFuncGetAttribute", int (*)(int*, int, Handle))                            \
  X(TexObjectCreate, "cuTexObjectCreate",                                                          \
    int (*)(std::uint64_t*, const TextureResource*, const TextureDescription*, const void*))       \
  X(TexObjectDestroy, "cuTexObjectDestroy", int (*)(std::uint64_t))                                \
  X(StreamCreate, "cuStreamCreate", int (*)(Handle*, unsigned))                                    \
  X(StreamQuery, "cuStreamQuery", int (*)(Handle))                                                 \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", int (*)(Handle, int))                           \
  X(StreamEndCapture, "cuStreamEndCapture", int (*)(Handle, Handle*))                              \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags", int (*)(Handle*, Handle, unsigned long long)) \
  X(GraphUpload, "cuGraphUpload", int (*)(Handle, Handle))                                         \
  X(GraphLaunch, "cuGraphLaunch", int (*)(Handle, Handle))                                         \
  X(GraphExecDestroy, "cuGraphExecDestroy", int (*)(Handle))                                       \
  X(GraphDestroy, "cuGraphDestroy", int (*)(Handle))                                               \
  X(EventCreate, "cuEventCreate", int (*)(Handle*, unsigned))                                      \
  X(EventDestroy, "cuEventDestroy_v2", int (*)(Handle))                                            \
  X(EventRecord, "cuEventRecord", int (*)(Handle, Handle))                                         \
  X(EventQuery, "cuEventQuery", int (*)(Handle))                                                   \
  X(EventElapsedTime, "cuEventElapsedTime", int (*)(float*, Handle, Handle))                       \
  X(LaunchKernel, "cuLaunchKernel",                                                                \
    int (*)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,  \
            void**, void**))                                                                       \
  X(LaunchKernelEx, "cuLaunchKernelEx", int (*)(const LaunchConfig*, Handle, void**, void**))

// Since CUDA 12.4: (function, index, offset, bytes).
#define ASSAY_CUDA_LATER_FUNCTIONS(X)       \
  X(FuncGetParamInfo, "cuFuncGetParamInfo", \
    int (*)(Handle, std::size_t, std::size_t*, std::size_t*))

class Driver {
 public:
  // Throws std::runtime_error if there is no driver here or it lacks a function. Does not
  // initialise it.
  Driver();

#define ASSAY_DECLARE(name, symbol, type) std::type_identity_t<type> name = nullptr;
  // The driver's own names.
  ASSAY_CUDA_FUNCTIONS(ASSAY_DECLARE)  // NOLINT(readability-identifier-naming)
  // Null where the driver does not have them.
  ASSAY_CUDA_LATER_FUNCTIONS(ASSAY_DECLARE)  // NOLINT(readability-identifier-naming)
#undef ASSAY_DECLARE

  // Throws DriverError naming `what` unless the result is success.
  void check(int result, const char* what) const;
  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
  [[nodiscard]] std::string text(int result) const;
};

}  // namespace assay::runner::cuda
