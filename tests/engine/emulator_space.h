// The emulator as the referee's device: the kernels that a GPU's referee runs, on memory of the
// host, so that its answers are tested where no GPU is.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "engine/emulator/emulator.h"
#include "engine/runner/device_space.h"

namespace assay::runner {

class EmulatorSpace final : public DeviceSpace {
 public:
  explicit EmulatorSpace(const std::shared_ptr<const emulator::Module>& module) : device_(module) {}

  int launches = 0;
  std::size_t room_bytes = 1U << 30;  // beyond which there is no memory
  // What a runner sees of the memory that a descriptor lends.
  [[nodiscard]] std::span<std::byte> lent(const posix::Descriptor& descriptor) const {
    return lent_.at(fstat_of(descriptor));
  }

  DeviceAddress allocate(std::size_t bytes) override {
    take(bytes);
    auto& memory = memories_.emplace_back(bytes + 16);
    return add({memory.data(), bytes});
  }
  // In whole granules, as a device does.
  Shared allocate_shared(std::size_t wanted) override {
    constexpr std::size_t kGranule = 4096;
    const std::size_t bytes = (wanted + kGranule - 1) / kGranule * kGranule;
    take(bytes);
    auto& memory = shared_.emplace_back(posix::SharedMemory::create("arena", bytes));
    lent_[fstat_of(memory.descriptor())] = memory.bytes();
    return {.address = add(memory.bytes()),
            .descriptor = memory.descriptor().duplicate(),
            .bytes = bytes};
  }
  void free(DeviceAddress address) noexcept override {
    used_ -= spans_.at(address).size();
    spans_.erase(address);
  }
  [[nodiscard]] std::size_t used_bytes() const { return used_; }

  void copy_in(DeviceAddress to, std::span<const std::byte> from) override {
    std::copy(from.begin(), from.end(), at(to));
  }
  void copy_out(std::span<std::byte> to, DeviceAddress from) override {
    std::copy_n(at(from), to.size(), to.begin());
  }
  void copy(DeviceAddress to, DeviceAddress from, std::size_t bytes) override {
    std::copy_n(at(from), bytes, at(to));
  }
  void fill_words(DeviceAddress to, std::uint32_t word, std::size_t words) override {
    for (std::size_t i = 0; i < words; ++i) std::memcpy(at(to) + 4 * i, &word, 4);
  }
  void launch(const char* kernel, std::uint64_t items,
              std::span<const std::byte> parameters) override {
    ++launches;
    std::vector<emulator::Buffer> buffers;
    for (const auto& [address, bytes] : spans_) {
      buffers.push_back({.address = address, .bytes = bytes, .name = "memory"});
    }
    // A small grid, so that the loops turn.
    const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(items / 64 + 1, 7));
    const auto outcome = device_.launch({.kernel = kernel,
                                         .grid = {.x = blocks},
                                         .block = {.x = 64},
                                         .parameters = {parameters.begin(), parameters.end()}},
                                        buffers, {.threads = 1}, std::stop_token());
    if (outcome.ending != emulator::Ending::completed) {
      throw std::runtime_error(std::string(kernel) + ": " + outcome.message +
                               outcome.fault.message);
    }
  }
  void finish() override {}

 private:
  static ino_t fstat_of(const posix::Descriptor& descriptor) {
    struct stat found {};
    if (::fstat(descriptor.get(), &found) != 0) throw std::runtime_error("fstat");
    return found.st_ino;
  }
  void take(std::size_t bytes) {
    if (used_ + bytes > room_bytes) throw OutOfMemory("no more memory");
    used_ += bytes;
  }
  DeviceAddress add(std::span<std::byte> bytes) {
    const auto address = reinterpret_cast<DeviceAddress>(bytes.data());
    spans_[address] = bytes;
    return address;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): its addresses are the host's
  static std::byte* at(DeviceAddress address) { return reinterpret_cast<std::byte*>(address); }

  emulator::Device device_;
  std::list<std::vector<std::byte>> memories_{};
  std::list<posix::SharedMemory> shared_{};
  std::map<DeviceAddress, std::span<std::byte>> spans_{};
  std::map<ino_t, std::span<std::byte>> lent_{};
  std::size_t used_ = 0;
};

}  // namespace assay::runner
