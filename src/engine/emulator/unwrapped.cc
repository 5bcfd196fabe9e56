#include "engine/emulator/unwrapped.h"

#include <algorithm>

namespace assay::emulator {
namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 31;
constexpr std::uint64_t kNear = std::uint64_t{1} << 16;
// Strides are told apart by 4 GiB each, so that tensors within less leave no doubt.
constexpr std::uint64_t kMostElementBytes = 256;

std::uint64_t distance(const AddressTable& table, std::uint64_t address) {
  const Object* const o = table.nearest(address);
  if (o == nullptr) return ~std::uint64_t{0};
  if (address < o->begin) return o->begin - address;
  return address < o->end ? 0 : address - o->end;
}

// Before a tensor rather than behind the one before it: most indices wrap below zero.
const Object* object_at(const AddressTable& table, std::uint64_t address) {
  const auto& all = table.objects();
  const Object* const o = table.nearest(address);
  const auto next = std::upper_bound(
      all.begin(), all.end(), address,
      [](std::uint64_t value, const Object& object) { return value < object.begin; });
  const bool is_behind = address >= o->end;
  return is_behind && next != all.end() && next->begin - address < kNear ? &*next : o;
}

// -5 / 4 is -2
std::int64_t floored(std::int64_t offset, std::uint64_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  return offset / size - (offset % size < 0 ? 1 : 0);
}

}  // namespace

Unwrapped unwrapped(const AddressTable& table, std::uint64_t address, std::uint64_t access_bytes) {
  if (access_bytes == 0 || distance(table, address) < kFar) return {};
  for (std::uint64_t bytes = access_bytes; bytes <= kMostElementBytes; bytes += access_bytes) {
    for (const std::uint64_t meant : {address - (bytes << 32), address + (bytes << 32)}) {
      if (distance(table, meant) > kNear) continue;
      const Object* const o = object_at(table, meant);
      return {.object = o,
              .element = floored(static_cast<std::int64_t>(meant - o->begin), bytes),
              .element_bytes = bytes};
    }
  }
  return {};
}

}  // namespace assay::emulator
