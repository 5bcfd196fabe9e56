#include "engine/emulator/heap.h"

namespace assay::emulator {

namespace {
constexpr std::uint64_t kGranule = 16;
}

// Fresh memory is not zero, so that a kernel cannot come to rely on it.
Heap::Heap() : memory_(std::make_unique_for_overwrite<std::byte[]>(kHeapBytes)) {
  for (std::size_t i = 0; i < kHeapBytes; ++i) memory_[i] = std::byte{0xCD};
}

std::uint64_t Heap::allocate(std::uint64_t bytes) {
  if (bytes > kHeapBytes) return 0;
  const std::uint64_t needed = bytes == 0 ? kGranule : (bytes + kGranule - 1) & ~(kGranule - 1);
  const std::lock_guard lock(mutex_);
  std::uint64_t at = kHeapBase;
  for (const auto& [begin, end] : used_) {
    if (begin - at >= needed) break;
    at = end;
  }
  if (kHeapBase + kHeapBytes - at < needed) return 0;
  used_[at] = at + needed;
  return at;
}

bool Heap::release(std::uint64_t address) {
  if (address == 0) return true;
  const std::lock_guard lock(mutex_);
  return used_.erase(address) != 0;
}

}  // namespace assay::emulator
