#include <algorithm>
#include <cstring>
#include <memory>
#include <stop_token>

#include "engine/runner/device.h"

namespace assay::runner {
namespace {

class EmulatorDevice final : public Device {
 public:
  Loaded load(const ProgramText& program) override {
    auto parsed = emulator::Module::parse(program.ptx);
    if (const auto* error = std::get_if<emulator::ParseError>(&parsed)) return *error;
    const auto module = std::get<std::shared_ptr<const emulator::Module>>(parsed);
    device_ = std::make_unique<emulator::Device>(module);
    return module->kernels();
  }

  // Far from zero, so that small integers taken for pointers fault.
  std::unique_ptr<Arena> adopt(LentMemory lent) override {
    return adopt_host_memory(std::move(lent), 0x7f10'0000'0000);
  }

  emulator::Outcome launch(const emulator::Launch& launch,
                           std::span<const emulator::Buffer> buffers, Arena&,
                           const emulator::Budget& budget) override {
    return device_->launch(launch, buffers, budget, std::stop_token());
  }

  void reload() override {
    if (device_) device_->reload();
    for (const auto& program : programs_) program->reload();
  }

  std::string load_sequence(Sequence&& sequence) override {
    programs_.clear();
    device_.reset();
    for (const auto& ptx : sequence.programs) {
      auto parsed = emulator::Module::parse(ptx);
      if (const auto* error = std::get_if<emulator::ParseError>(&parsed)) return error->message;
      programs_.push_back(std::make_unique<emulator::Device>(
          std::get<std::shared_ptr<const emulator::Module>>(parsed)));
    }
    sequence_ = std::move(sequence);
    return {};
  }

  emulator::Outcome run_sequence(Arena& arena, const emulator::Budget& budget) override {
    std::vector<std::byte> memory(std::max<std::size_t>(sequence_.memory_bytes, arena.size()));
    const auto lent = arena.bytes();
    std::copy(lent.begin(), lent.end(), memory.begin());
    emulator::Outcome outcome;
    std::chrono::nanoseconds wall{0};
    for (const auto& step : sequence_.steps) {
      if (step.kind != SequenceStep::Kind::launch) {
        move_bytes(step, memory);
        continue;
      }
      outcome = launch_step(step, memory, budget);
      if (outcome.ending != emulator::Ending::completed) return outcome;
      wall += outcome.wall;
    }
    outcome.wall = wall;
    std::copy_n(memory.begin(), lent.size(), lent.begin());
    return outcome;
  }

 private:
  static constexpr std::uint64_t kMemory = 0x7f20'0000'0000;

  emulator::Outcome launch_step(const SequenceStep& step, std::vector<std::byte>& memory,
                                const emulator::Budget& budget) {
    emulator::Launch launch = step.launch;
    for (const std::size_t offset : step.pointer_offsets) {
      std::uint64_t address = 0;
      std::memcpy(&address, launch.parameters.data() + offset, sizeof address);
      address += kMemory;
      std::memcpy(launch.parameters.data() + offset, &address, sizeof address);
    }
    const emulator::Buffer whole{.address = kMemory, .bytes = memory, .name = "memory"};
    return programs_.at(step.program)
        ->launch(launch, std::span(&whole, 1), budget, std::stop_token());
  }

  static void move_bytes(const SequenceStep& step, std::vector<std::byte>& memory) {
    std::byte* to = memory.data() + step.to;
    if (step.kind == SequenceStep::Kind::copy) {
      std::memmove(to, memory.data() + step.from, step.bytes);
      return;
    }
    for (std::uint64_t at = 0; at < step.bytes; at += step.width) {
      std::memcpy(to + at, &step.value, step.width);
    }
  }

  std::unique_ptr<emulator::Device> device_{};
  Sequence sequence_{};
  std::vector<std::unique_ptr<emulator::Device>> programs_{};  // of the sequence
};

}  // namespace

std::unique_ptr<Device> make_emulator_device() { return std::make_unique<EmulatorDevice>(); }

}  // namespace assay::runner
