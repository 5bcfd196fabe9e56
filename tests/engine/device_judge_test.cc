// The referee's kernels, run by the emulator: inputs are bit for bit those of the host's generator.
#include "engine/runner/device_judge.h"

#include <random>

#include "engine/judge/on_device.h"
#include "tests/engine/emulator_space.h"
#include "tests/engine/referee_kernels.h"

using namespace assay;
using contract::DType;
using runner::EmulatorSpace;

TEST_CASE("a device's inputs are the host's, bit for bit, for every dtype and way of making them") {
  std::mt19937 random(20261121);
  int on_device = 0;
  EmulatorSpace space(runner::referee_kernels());
  runner::DeviceJudge judge(space);
  for (const DType dtype : contract::all_dtypes()) {
    for (const auto kind :
         {contract::InitKind::randn, contract::InitKind::uniform, contract::InitKind::zeros,
          contract::InitKind::ones, contract::InitKind::full, contract::InitKind::arange}) {
      for (int variant = 0; variant < 4; ++variant) {
        contract::TensorSpec spec{.shape = {static_cast<std::int64_t>(1 + random() % 700)},
                                  .dtype = dtype,
                                  .init = contract::TensorInit{.kind = kind}};
        auto& init = *spec.init;
        const bool real = contract::is_floating(dtype) || contract::is_complex(dtype);
        if (variant >= 2 && real) {
          init.mean = 3.25;
          init.std = 0.01;
          init.low = -7.5;
          init.high = 11.125 + variant;
          init.fill_value = -0.3;
        } else if (variant >= 2 && dtype != DType::boolean) {
          init.low = std::int64_t{3};
          init.high = std::int64_t{90 + variant};
          init.fill_value = std::int64_t{7};
        }
        const judge::Stream stream{.seed = random() | (std::uint64_t{random()} << 32),
                                   .id = random() % 3};
        std::vector<std::byte> wanted(spec.contiguous_bytes());
        judge::generate(spec, stream, wanted);
        const runner::DeviceMemory memory(space, wanted.size() + 8);
        judge.generate(spec, stream, memory.address());
        (void)judge.answers();
        std::vector<std::byte> made(wanted.size());
        space.copy_out(made, memory.address());
        INFO(contract::name(dtype) << " " << contract::name(kind) << " variant " << variant);
        CHECK(made == wanted);
        on_device += judge::on_device::plan_fill(spec, stream) ? 1 : 0;
      }
    }
  }
  CHECK(on_device > 150);
}

TEST_CASE("uniform values at the edge of their range come back into it on a device too") {
  EmulatorSpace space(runner::referee_kernels());
  runner::DeviceJudge judge(space);
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32}) {
    // Ranges so narrow that rounding leaves them.
    for (const double low : {1.0, 100.0, -2.0}) {
      const contract::TensorSpec spec{
          .shape = {500},
          .dtype = dtype,
          .init = contract::TensorInit{
              .kind = contract::InitKind::uniform, .low = low, .high = low * 1.001 + 0.01}};
      std::vector<std::byte> wanted(spec.contiguous_bytes());
      judge::generate(spec, {.seed = 5, .id = 0}, wanted);
      const runner::DeviceMemory memory(space, wanted.size());
      judge.generate(spec, {.seed = 5, .id = 0}, memory.address());
      std::vector<std::byte> made(wanted.size());
      space.copy_out(made, memory.address());
      CHECK(made == wanted);
    }
  }
}
