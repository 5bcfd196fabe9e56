// Addresses to host bytes, one lane at a time: every space and the windows of the generic one.
#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

// [offset, offset + bytes) inside [0, size)
bool inside(std::uint64_t offset, std::uint64_t bytes, std::uint64_t size) {
  return offset <= size && size - offset >= bytes;
}

std::byte* in_table(const Warp& w, std::uint64_t address, std::uint64_t bytes, bool write) {
  const std::int32_t i = w.table->find(address, bytes);
  if (i < 0) return nullptr;
  const Object& o = w.objects[i];
  if (write && !o.writable) return nullptr;
  return o.host + (address - o.begin);
}

std::byte* bytes_at(Warp& w, Space space, unsigned lane, std::uint64_t address, std::uint64_t bytes,
                    bool write) {
  switch (space) {
    case Space::shared:
      return inside(address, bytes, w.shared_bytes) ? w.shared + address : nullptr;
    case Space::local:
      return inside(address, bytes, w.local_bytes) ? w.local + lane * w.local_capacity + address
                                                   : nullptr;
    case Space::param:
      if (write || !inside(address, bytes, w.parameter_bytes)) return nullptr;
      return const_cast<std::byte*>(w.parameters) + address;  // read only, as checked above
    case Space::global:
    case Space::constant:
      return in_table(w, address, bytes, write);
    case Space::generic:
      break;
  }
  if (address - kSharedWindow < kWindowBytes) {
    return bytes_at(w, Space::shared, lane, address - kSharedWindow, bytes, write);
  }
  if (address - kLocalWindow < kWindowBytes) {
    return bytes_at(w, Space::local, lane, address - kLocalWindow, bytes, write);
  }
  if (address - kParamWindow < kWindowBytes) {
    return bytes_at(w, Space::param, lane, address - kParamWindow, bytes, write);
  }
  return in_table(w, address, bytes, write);
}

}  // namespace

std::byte* host_address(Warp& w, Space space, unsigned lane, std::uint64_t address,
                        std::uint64_t bytes, bool write) {
  if (w.recording) w.watch->touch(w, {space, lane, address, bytes, write});
  return bytes_at(w, space, lane, address, bytes, write);
}

}  // namespace assay::emulator
