// The device's heap of one launch: what malloc() in a kernel takes from. First fit in a sorted map;
// the bookkeeping lies outside the memory that a kernel can write. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace assay::emulator {

inline constexpr std::uint64_t kHeapBase = 0x00A8'0000'0000'0000;
inline constexpr std::size_t kHeapBytes = std::size_t{8} << 20;  // a device's default

// A block that malloc() returned.
struct HeapBlock {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;  // as asked for
  bool is_freed = false;
};

class Heap {
 public:
  Heap();
  // 0: there is no room, as on a device.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  // False: nothing was allocated there. Null is fine.
  [[nodiscard]] bool release(std::uint64_t address);
  [[nodiscard]] std::byte* bytes() { return memory_.get(); }
  // The last block at or below an address, freed ones among them; nothing if there was none.
  [[nodiscard]] std::optional<HeapBlock> block_below(std::uint64_t address);

 private:
  std::mutex mutex_;
  std::unique_ptr<std::byte[]> memory_;
  struct Extent {
    std::uint64_t end = 0;    // with what rounding up took
    std::uint64_t asked = 0;  // bytes
  };
  void give_back(std::uint64_t begin, std::uint64_t end);

  std::map<std::uint64_t, std::uint64_t> room_{};   // what is free: begin to end, never adjacent
  std::map<std::uint64_t, Extent> used_{};          // by begin
  std::map<std::uint64_t, std::uint64_t> freed_{};  // begin to bytes, until taken again
};

}  // namespace assay::emulator
