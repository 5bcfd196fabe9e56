#include "engine/emulator/heap.h"

#include <algorithm>
#include <iterator>

namespace assay::emulator {

namespace {
constexpr std::uint64_t kGranule = 16;
}

// Fresh memory is not zero, so that a kernel cannot come to rely on it.
Heap::Heap() : memory_(std::make_unique_for_overwrite<std::byte[]>(kHeapBytes)) {
  for (std::size_t i = 0; i < kHeapBytes; ++i) memory_[i] = std::byte{0xCD};
  room_.emplace(kHeapBase, kHeapBase + kHeapBytes);
}

std::uint64_t Heap::allocate(std::uint64_t bytes) {
  if (bytes > kHeapBytes) return 0;
  const std::uint64_t needed = bytes == 0 ? kGranule : (bytes + kGranule - 1) & ~(kGranule - 1);
  const std::lock_guard lock(mutex_);
  const auto room = std::find_if(room_.begin(), room_.end(), [&](const auto& extent) {
    return extent.second - extent.first >= needed;
  });
  if (room == room_.end()) return 0;
  const auto [at, end] = *room;
  room_.erase(room);
  if (end - at > needed) room_.emplace(at + needed, end);
  used_[at] = {.end = at + needed, .asked = bytes};
  freed_.erase(freed_.lower_bound(at), freed_.lower_bound(at + needed));
  return at;
}

bool Heap::release(std::uint64_t address) {
  if (address == 0) return true;
  const std::lock_guard lock(mutex_);
  const auto found = used_.find(address);
  if (found == used_.end()) return false;
  freed_[address] = found->second.asked;
  give_back(address, found->second.end);
  used_.erase(found);
  return true;
}

// Together with what is free on either side.
void Heap::give_back(std::uint64_t begin, std::uint64_t end) {
  if (const auto after = room_.find(end); after != room_.end()) {
    end = after->second;
    room_.erase(after);
  }
  if (const auto at = room_.lower_bound(begin); at != room_.begin()) {
    if (const auto before = std::prev(at); before->second == begin) {
      before->second = end;
      return;
    }
  }
  room_.emplace(begin, end);
}

std::optional<HeapBlock> Heap::block_below(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  std::optional<HeapBlock> best;
  if (const auto after = used_.upper_bound(address); after != used_.begin()) {
    const auto& [begin, extent] = *std::prev(after);
    best = HeapBlock{.begin = begin, .bytes = extent.asked};
  }
  if (const auto after = freed_.upper_bound(address); after != freed_.begin()) {
    const auto& [begin, bytes] = *std::prev(after);
    if (!best || begin > best->begin) {
      best = HeapBlock{.begin = begin, .bytes = bytes, .is_freed = true};
    }
  }
  return best;
}

}  // namespace assay::emulator
