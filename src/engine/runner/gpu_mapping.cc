#include "engine/runner/gpu_mapping.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace assay::runner {
namespace {

constexpr int kPinned = 1;
constexpr int kPosixDescriptor = 1;
constexpr int kOnDevice = 1;
constexpr int kReadWrite = 3;
constexpr int kMinimum = 0;
constexpr cuda::Address kPageBytes = 2U << 20;  // the driver's largest
constexpr int kMostDraws = 16;

// CUmemLocation, CUmemAllocationProp and CUmemAccessDesc (driver API, CUDA 10.2 to 13).
struct Location {
  int type = kOnDevice;
  int device = 0;
};
struct Properties {
  int type = kPinned;
  int handle_types = kPosixDescriptor;
  Location location{};
  void* windows_only = nullptr;
  std::uint64_t flags = 0;
};
static_assert(sizeof(Properties) == 32);
struct Access {
  Location location{};
  int flags = kReadWrite;
};

std::size_t whole_granules(const GpuContext& context, std::size_t bytes) {
  const auto& driver = context.driver();
  const Properties properties{.location = {.device = context.ordinal()}};
  std::size_t granule = 0;
  driver.check(driver.MemGetAllocationGranularity(&granule, &properties, kMinimum),
               "cuMemGetAllocationGranularity");
  return (std::max<std::size_t>(bytes, 1) + granule - 1) / granule * granule;
}

// A kernel that wrote to what an earlier run has handed back, or to what later runs begin with,
// would have to know where that lies; a wrong guess ends it.
cuda::Address random_place(const GpuContext& context, std::size_t bytes) {
  std::uint64_t drawn = 0;
  if (::getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return context.span() + drawn % ((context.span_bytes() - bytes) / kPageBytes) * kPageBytes;
}

}  // namespace

GpuMapping::GpuMapping(const GpuContext& context, std::size_t bytes, For use)
    : context_(&context), bytes_(whole_granules(context, bytes)) {
  const auto& driver = context.driver();
  const Properties properties{.handle_types = use == For::lending ? kPosixDescriptor : 0,
                              .location = {.device = context.ordinal()}};
  driver.check(driver.MemCreate(&handle_, bytes_, &properties, 0), "cuMemCreate");
  map();
}

GpuMapping::GpuMapping(const GpuContext& context, const posix::Descriptor& lent, std::size_t bytes)
    : context_(&context), bytes_(whole_granules(context, bytes)) {
  const auto& driver = context.driver();
  // The driver takes the descriptor's number as a pointer.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  void* number = reinterpret_cast<void*>(static_cast<std::uintptr_t>(lent.get()));
  driver.check(driver.MemImportFromShareableHandle(&handle_, number, kPosixDescriptor),
               "cuMemImportFromShareableHandle");
  map();
}

int GpuMapping::place() {
  const auto& driver = context_->driver();
  if (context_->span_bytes() <= bytes_) {
    owns_address_ = true;
    const int result = driver.MemAddressReserve(&address_, bytes_, 0, 0, 0);
    return result == cuda::kSuccess ? driver.MemMap(address_, bytes_, 0, handle_, 0) : result;
  }
  int result = cuda::kSuccess;
  for (int draw = 0; draw < kMostDraws; ++draw) {
    address_ = random_place(*context_, bytes_);
    result = driver.MemMap(address_, bytes_, 0, handle_, 0);
    if (result == cuda::kSuccess) break;  // else something lies there
  }
  return result;
}

void GpuMapping::map() {
  const auto& driver = context_->driver();
  const Access access{.location = {.device = context_->ordinal()}};
  int result = place();
  const bool mapped = result == cuda::kSuccess;
  if (mapped) result = driver.MemSetAccess(address_, bytes_, &access, 1);
  if (result == cuda::kSuccess) return;
  // No destructor runs for what was never constructed.
  if (mapped) driver.MemUnmap(address_, bytes_);
  if (owns_address_ && address_ != 0) driver.MemAddressFree(address_, bytes_);
  driver.MemRelease(handle_);
  throw cuda::DriverError(result, "mapping device memory: " + driver.text(result));
}

GpuMapping::~GpuMapping() {
  // In a context that died these fail, and the process ends soon.
  const auto& driver = context_->driver();
  driver.MemUnmap(address_, bytes_);
  if (owns_address_) driver.MemAddressFree(address_, bytes_);
  driver.MemRelease(handle_);
}

posix::Descriptor GpuMapping::descriptor() const {
  const auto& driver = context_->driver();
  int number = -1;
  driver.check(driver.MemExportToShareableHandle(&number, handle_, kPosixDescriptor, 0),
               "cuMemExportToShareableHandle");
  return posix::Descriptor(number);
}

}  // namespace assay::runner
