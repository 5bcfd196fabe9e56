// The device's heap of one launch: what malloc() in a kernel takes from. First fit in a sorted map;
// the bookkeeping lies outside the memory that a kernel can write. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace assay::emulator {

inline constexpr std::uint64_t kHeapBase = 0x00A8'0000'0000'0000;
inline constexpr std::size_t kHeapBytes = std::size_t{8} << 20;  // a device's default

class Heap {
 public:
  Heap();
  // 0: there is no room, as on a device.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  // False: nothing was allocated there. Null is fine.
  [[nodiscard]] bool release(std::uint64_t address);
  [[nodiscard]] std::byte* bytes() { return memory_.get(); }

 private:
  std::mutex mutex_;
  std::unique_ptr<std::byte[]> memory_;
  std::map<std::uint64_t, std::uint64_t> used_{};  // begin to end
};

}  // namespace assay::emulator
