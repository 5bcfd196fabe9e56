// The right to run on a GPU, exclusive among all engines of the machine's users: an advisory lock
// on one file per device, in a place all agree on. The kernel releases it when its holder dies, and
// runners never see it. Owned by one job.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "engine/posix/descriptor.h"

namespace assay::node {

class GpuLease {
 public:
  // Waits for it; nothing if stopped meanwhile. Throws std::system_error if there is no place for
  // the lock.
  [[nodiscard]] static std::optional<GpuLease> take(const std::string& uuid,
                                                    const std::stop_token& stop);

 private:
  explicit GpuLease(posix::Descriptor lock) : lock_(std::move(lock)) {}
  posix::Descriptor lock_;
};

}  // namespace assay::node
