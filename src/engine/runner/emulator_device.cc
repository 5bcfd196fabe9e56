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

  void reload() override { device_->reload(); }

 private:
  std::unique_ptr<emulator::Device> device_{};
};

}  // namespace

std::unique_ptr<Device> make_emulator_device() { return std::make_unique<EmulatorDevice>(); }

}  // namespace assay::runner
