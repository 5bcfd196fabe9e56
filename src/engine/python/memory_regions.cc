#include "engine/python/memory_regions.h"

#include <algorithm>
#include <cstring>

namespace assay::python {
namespace {

// Of fewer bytes too many other contents look like the pattern.
constexpr std::size_t kLeastWatchedBytes = 4;

std::byte* memory_at(std::uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer when it was noted
  return reinterpret_cast<std::byte*>(address);
}

}  // namespace

void MemoryRegions::add(std::uint64_t address, std::size_t bytes, std::string name) {
  const std::lock_guard lock(mutex_);
  forget_locked(address, bytes);
  if (bytes > 0) regions_[address] = {.bytes = bytes, .name = std::move(name)};
}

void MemoryRegions::add_allocated(std::uint64_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  forget_locked(address, bytes);
  if (bytes > 0) fill_locked(address, regions_[address] = {.bytes = bytes});
}

void MemoryRegions::forget_contents(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const auto found = regions_.find(address);
  if (found != regions_.end()) fill_locked(address, found->second);
}

void MemoryRegions::remove(std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  regions_.erase(address);
}

void MemoryRegions::forget(std::uint64_t address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  forget_locked(address, bytes);
}

void MemoryRegions::watch_contents(std::uint64_t pattern) {
  const std::lock_guard lock(mutex_);
  pattern_ = pattern;
}

std::vector<emulator::Buffer> MemoryRegions::buffers(const std::vector<std::uint64_t>& pointers) {
  const std::lock_guard lock(mutex_);
  std::vector<emulator::Buffer> list;
  for (auto& [address, region] : regions_) {
    region.is_unwritten = region.is_unwritten && has_pattern(address, region);
    std::string name = region.name;
    for (std::size_t i = 0; i < pointers.size() && name.empty(); ++i) {
      if (pointers[i] - address < region.bytes) name = "argument " + std::to_string(i);
    }
    list.push_back({.address = address,
                    .bytes = {memory_at(address), region.bytes},
                    .name = std::move(name),
                    .initialised = !region.is_unwritten});
  }
  return list;
}

void MemoryRegions::forget_locked(std::uint64_t address, std::size_t bytes) {
  auto at = regions_.lower_bound(address);
  if (at != regions_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second.bytes > address) at = before;
  }
  while (at != regions_.end() && at->first < address + bytes) at = regions_.erase(at);
}

void MemoryRegions::fill_locked(std::uint64_t address, Region& region) const {
  if (pattern_ == 0 || region.bytes < kLeastWatchedBytes) return;
  std::byte* const memory = memory_at(address);
  for (std::size_t at = 0; at < region.bytes; at += sizeof pattern_) {
    std::memcpy(memory + at, &pattern_, std::min(sizeof pattern_, region.bytes - at));
  }
  region.is_unwritten = true;
}

bool MemoryRegions::has_pattern(std::uint64_t address, const Region& region) const {
  const std::byte* const memory = memory_at(address);
  for (std::size_t at = 0; at < region.bytes; at += sizeof pattern_) {
    if (std::memcmp(memory + at, &pattern_, std::min(sizeof pattern_, region.bytes - at)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace assay::python
