// Device memory that two processes see: made here and lent by its descriptor, or lent by another
// and mapped here. The driver's virtual memory management; a mapping ends with its object, the
// memory with the last mapping and descriptor of it. It lies where nobody can guess, each time
// elsewhere: what a kernel is not told of, it does not find.
//
// Owned by one runner; one thread. Throws cuda::DriverError.
#pragma once

#include "engine/posix/descriptor.h"
#include "engine/runner/gpu_context.h"

namespace assay::runner {

class GpuMapping {
 public:
  enum class For { lending, own };
  // Makes memory of at least `bytes`; descriptor() lends it, if it is for that.
  GpuMapping(const GpuContext& context, std::size_t bytes, For use);
  // Maps what another process lent. `bytes` as it was asked for there.
  GpuMapping(const GpuContext& context, const posix::Descriptor& lent, std::size_t bytes);
  ~GpuMapping();
  GpuMapping(const GpuMapping&) = delete;
  GpuMapping& operator=(const GpuMapping&) = delete;

  [[nodiscard]] cuda::Address address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }  // at least what was asked for
  [[nodiscard]] posix::Descriptor descriptor() const;

 private:
  void map();
  [[nodiscard]] int place();  // answers the driver's result

  const GpuContext* context_;
  std::size_t bytes_ = 0;  // whole granules
  std::uint64_t handle_ = 0;
  cuda::Address address_ = 0;
  bool owns_address_ = false;  // it is not of the context's span
};

}  // namespace assay::runner
