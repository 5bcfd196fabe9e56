#include "engine/runner/gpu_launch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace assay::runner {
namespace {

using emulator::Ending;
using emulator::FaultKind;
using emulator::Outcome;

// CU_LAUNCH_PARAM_*: how cuLaunchKernel is told of a packed block.
void* const kBufferPointer = reinterpret_cast<void*>(1);  // NOLINT(performance-no-int-to-ptr)
void* const kBufferSize = reinterpret_cast<void*>(2);     // NOLINT(performance-no-int-to-ptr)

constexpr int kInvalidValue = 1;

Outcome fault(FaultKind kind, std::string message) {
  return {.ending = Ending::faulted, .fault = {.kind = kind, .message = std::move(message)}};
}

// Each parameter in its packed block: a cooperative launch cannot be captured in a graph with the
// block itself (INVALID_VALUE, driver 580). Nothing where the driver does not say where they are.
std::optional<std::vector<void*>> parameters_in(std::vector<std::byte>& block,
                                                cuda::Handle function, const cuda::Driver& driver) {
  if (driver.FuncGetParamInfo == nullptr) return std::nullopt;
  std::vector<void*> parameters;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  while (driver.FuncGetParamInfo(function, parameters.size(), &offset, &bytes) == cuda::kSuccess) {
    if (offset + bytes > block.size()) return std::nullopt;
    parameters.push_back(block.data() + offset);
  }
  if (parameters.empty() != block.empty()) return std::nullopt;
  return parameters;
}

}  // namespace

int queue_launch(const GpuContext& context, cuda::Handle function, const emulator::Launch& launch,
                 std::vector<std::byte> block, std::span<const LaunchTrait> traits) {
  std::size_t bytes = block.size();
  std::array<void*, 5> extra{kBufferPointer, block.data(), kBufferSize, &bytes, nullptr};
  const auto& grid = launch.grid;
  const auto& threads = launch.block;
  if (launch.cooperative || !traits.empty()) {
    std::vector<cuda::LaunchAttribute> attributes;
    for (const auto& trait : traits) {
      attributes.push_back({.id = trait.id});
      std::copy(trait.value.begin(), trait.value.end(), attributes.back().value.begin());
    }
    if (launch.cooperative) {
      attributes.push_back({.id = cuda::LaunchAttribute::kCooperative});
      attributes.back().value[0] = 1;
    }
    const cuda::LaunchConfig config{
        .grid = {grid.x, grid.y, grid.z},
        .block = {threads.x, threads.y, threads.z},
        .shared_bytes = static_cast<unsigned>(launch.dynamic_shared_bytes),
        .stream = context.stream(),
        .attributes = attributes.data(),
        .attribute_count = static_cast<unsigned>(attributes.size())};
    const auto is_cooperative = [](const cuda::LaunchAttribute& attribute) {
      return attribute.id == cuda::LaunchAttribute::kCooperative;  // of what is lifted, a trait
    };
    auto one_by_one = std::any_of(attributes.begin(), attributes.end(), is_cooperative)
                          ? parameters_in(block, function, context.driver())
                          : std::nullopt;
    const bool is_packed = bytes > 0 && !one_by_one;
    return context.driver().LaunchKernelEx(&config, function,
                                           one_by_one ? one_by_one->data() : nullptr,
                                           is_packed ? extra.data() : nullptr);
  }
  return context.driver().LaunchKernel(
      function, grid.x, grid.y, grid.z, threads.x, threads.y, threads.z,
      static_cast<unsigned>(launch.dynamic_shared_bytes), context.stream(), nullptr,
      bytes == 0 ? nullptr : extra.data());
}

bool is_large_cluster(std::int64_t x, std::int64_t y, std::int64_t z) {
  constexpr std::int64_t kPortableBlocks = 8;
  const auto counted = [](std::int64_t n) {
    return std::clamp<std::int64_t>(n, 0, kPortableBlocks + 1);
  };
  return counted(x) * counted(y) * counted(z) > kPortableBlocks;
}

int allow_own_clusters(const cuda::Driver& driver, cuda::Handle function) {
  std::array<int, 3> blocks{};
  constexpr std::array kAttributes{cuda::kFunctionClusterWidth, cuda::kFunctionClusterHeight,
                                   cuda::kFunctionClusterDepth};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    // A driver that knows of no clusters refuses the question.
    if (driver.FuncGetAttribute(&blocks[i], kAttributes[i], function) != cuda::kSuccess) {
      return cuda::kSuccess;
    }
  }
  if (!is_large_cluster(blocks[0], blocks[1], blocks[2])) return cuda::kSuccess;
  return driver.FuncSetAttribute(function, cuda::kFunctionLargeClusters, 1);
}

Outcome outcome_of(int result, const std::string& text) {
  switch (result) {
    case cuda::kSuccess:
      return {};
    case cuda::kNotReady:
    case cuda::kLaunchTimeout:
      return {.ending = Ending::budget_wall};
    case cuda::kOutOfMemory:
      return {.ending = Ending::out_of_memory, .message = text};
    case cuda::kLaunchOutOfResources:
    case cuda::kIncompatibleTexturing:
    case cuda::kCooperativeLaunchTooLarge:
    case cuda::kInvalidClusterSize:
    case cuda::kNotSupported:
    case kInvalidValue:
      return {.ending = Ending::invalid_launch, .message = text};
    case cuda::kIllegalAddress:
    case cuda::kInvalidAddressSpace:
      return fault(FaultKind::out_of_bounds, text);
    case cuda::kMisalignedAddress:
      return fault(FaultKind::misaligned, text);
    case cuda::kAssert:
      return fault(FaultKind::assertion, text);
    case cuda::kHardwareStackError:
      return fault(FaultKind::stack_overflow, text);
    case cuda::kInvalidPc:
      return fault(FaultKind::invalid_call, text);
    case cuda::kIllegalInstruction:
    case cuda::kLaunchFailed:
    case cuda::kTensorMemoryLeak:
      return fault(FaultKind::trap, text);
    default:
      throw cuda::DriverError(result, text);
  }
}

Outcome outcome_of(const GpuContext& context, int result) {
  if (result == cuda::kSuccess) return {};
  return outcome_of(result, context.driver().text(result));
}

Outcome left_by_kernel(const cuda::DriverError& error) {
  Outcome outcome = outcome_of(error.result(), error.what());
  const bool is_its_own =
      outcome.ending == Ending::faulted || outcome.ending == Ending::budget_wall;
  if (!is_its_own) throw error;
  return outcome;
}

std::vector<std::byte> placed(const std::vector<std::byte>& parameters,
                              const std::vector<std::size_t>& pointer_offsets,
                              cuda::Address arena) {
  std::vector<std::byte> block = parameters;
  for (const std::size_t offset : pointer_offsets) {
    cuda::Address address = 0;
    std::memcpy(&address, block.data() + offset, sizeof address);
    address += arena;
    std::memcpy(block.data() + offset, &address, sizeof address);
  }
  return block;
}

}  // namespace assay::runner
