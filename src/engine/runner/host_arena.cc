#include <stdexcept>

#include "engine/runner/device.h"

namespace assay::runner {
namespace {

class HostArena final : public Arena {
 public:
  HostArena(posix::SharedMemory memory, std::uint64_t address)
      : memory_(std::move(memory)), address_(address) {}
  [[nodiscard]] std::uint64_t address() const override { return address_; }
  [[nodiscard]] std::span<std::byte> bytes() const override { return memory_.bytes(); }
  [[nodiscard]] std::size_t size() const override { return memory_.bytes().size(); }

 private:
  posix::SharedMemory memory_;
  std::uint64_t address_;
};

}  // namespace

std::unique_ptr<Arena> adopt_host_memory(LentMemory lent, std::uint64_t address) {
  if (lent.on_device) throw std::runtime_error("device memory, lent to one that has none");
  return std::make_unique<HostArena>(
      posix::SharedMemory::adopt(std::move(lent.descriptor), lent.size), address);
}

emulator::Surroundings surroundings_of(const Arena& arena) {
  constexpr std::uint64_t kPageBytes = std::uint64_t{2} << 20;
  const std::uint64_t pages = (arena.size() + kPageBytes - 1) / kPageBytes;
  return {.address = arena.address(), .bytes = arena.bytes(), .mapped_bytes = pages * kPageBytes};
}

}  // namespace assay::runner
