// Memory and kernels of a device as the referee uses them: a GPU's (gpu_space.cc), or in tests the
// emulator's. What it queues is done when finish() returns; copies to the host are done at once.
//
// One thread. Throws OutOfMemory where the device has no more, std::runtime_error where it fails
// otherwise: a referee that cannot go on is replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/posix/descriptor.h"

namespace assay::runner {

class OutOfMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using DeviceAddress = std::uint64_t;

class DeviceSpace {
 public:
  // Memory that another process can map, by its descriptor.
  struct Shared {
    DeviceAddress address = 0;
    posix::Descriptor descriptor{};
    std::size_t bytes = 0;  // that the other can map: at least as many as were asked for
  };

  DeviceSpace() = default;
  virtual ~DeviceSpace() = default;
  DeviceSpace(const DeviceSpace&) = delete;
  DeviceSpace& operator=(const DeviceSpace&) = delete;

  [[nodiscard]] virtual DeviceAddress allocate(std::size_t bytes) = 0;
  [[nodiscard]] virtual Shared allocate_shared(std::size_t bytes) = 0;
  virtual void free(DeviceAddress address) noexcept = 0;  // of either kind
  // Shared memory that was freed may be lent again only when nobody who was lent it can touch it:
  // otherwise it is given up with this call.
  virtual void give_up_lent() {}

  virtual void copy_in(DeviceAddress to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, DeviceAddress from) = 0;
  virtual void copy(DeviceAddress to, DeviceAddress from, std::size_t bytes) = 0;
  // Whole words of four bytes.
  virtual void fill_words(DeviceAddress to, std::uint32_t word, std::size_t words) = 0;

  // Queues a kernel of on_device.cu on enough threads for `items`.
  virtual void launch(const char* kernel, std::uint64_t items,
                      std::span<const std::byte> parameters) = 0;
  virtual void finish() = 0;
};

// Memory of a space that frees itself.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceSpace& space, std::size_t bytes)
      : space_(&space), address_(space.allocate(bytes)) {}
  DeviceMemory(DeviceSpace& space, const DeviceSpace::Shared& shared)
      : space_(&space), address_(shared.address) {}
  DeviceMemory(DeviceMemory&& other) noexcept
      : space_(other.space_), address_(std::exchange(other.address_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(address_, other.address_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (address_ != 0) space_->free(address_);
  }

  [[nodiscard]] DeviceAddress address() const { return address_; }
  explicit operator bool() const { return address_ != 0; }

 private:
  DeviceSpace* space_ = nullptr;
  DeviceAddress address_ = 0;
};

}  // namespace assay::runner
