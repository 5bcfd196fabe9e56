// What a kernel runner needs of the device it runs on. The emulator is one (emulator_device.cc),
// the driver of a GPU will be the other, tests have a fake: the role that speaks to the engine
// (kernel_role.cc) knows none of them. The values that pass are those of emulator.h, which are
// plain and name no device.
//
// One program at a time, one launch at a time; used by the runner's one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::runner {

class Device {
 public:
  using Loaded = std::variant<std::vector<emulator::KernelInfo>, emulator::ParseError>;

  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The kernels of a program, which takes the place of the last one.
  [[nodiscard]] virtual Loaded load(std::string_view program) = 0;
  // Where the arena appears to the kernel.
  [[nodiscard]] virtual std::uint64_t arena_address() const = 0;
  // Runs one launch of the loaded program to its end, whatever that is. A kernel's own failure is
  // an Outcome; an exception is ours.
  [[nodiscard]] virtual emulator::Outcome launch(const emulator::Launch& launch,
                                                 std::span<const emulator::Buffer> buffers,
                                                 const emulator::Budget& budget) = 0;
  // The program's variables are what they were when it was loaded.
  virtual void reload() = 0;
};

[[nodiscard]] std::unique_ptr<Device> make_emulator_device();

}  // namespace assay::runner
