#include "engine/node/occupancy.h"

#include <algorithm>
#include <array>

namespace assay::node {
namespace {

constexpr std::uint64_t kKiB = 1024;

// 8.8 is named by the compiler but its limits are in no table yet.
constexpr std::array<MultiprocessorLimits, 11> kLimits{{
    {75, 1024, 16, 64 * kKiB, 64 * kKiB, 0, 256},
    {80, 2048, 32, 164 * kKiB, 163 * kKiB, kKiB, 128},
    {86, 1536, 16, 100 * kKiB, 99 * kKiB, kKiB, 128},
    {87, 1536, 16, 164 * kKiB, 163 * kKiB, kKiB, 128},
    {89, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
    {90, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {100, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {103, 2048, 32, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {110, 1536, 24, 228 * kKiB, 227 * kKiB, kKiB, 128},
    {120, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
    {121, 1536, 24, 100 * kKiB, 99 * kKiB, kKiB, 128},
}};

template <typename T>
constexpr T round_up(T value, T unit) {
  return (value + unit - 1) / unit * unit;
}

unsigned blocks_by_registers(unsigned warps, unsigned registers) {
  if (registers == 0) return ~0U;
  const unsigned per_warp = round_up(registers * kWarpThreads, kRegisterUnit);
  const unsigned resident = kRegistersPerMultiprocessor / per_warp / kWarpUnit * kWarpUnit;
  return resident / warps;
}

unsigned blocks_by_shared(const MultiprocessorLimits& limits, std::uint64_t shared_bytes) {
  if (shared_bytes > limits.shared_bytes_per_block) return 0;
  const auto taken = round_up(shared_bytes + limits.reserved_shared_bytes,
                              std::max<std::uint64_t>(limits.shared_unit_bytes, 1));
  if (taken == 0) return ~0U;
  return static_cast<unsigned>(limits.shared_bytes / taken);
}

}  // namespace

std::optional<MultiprocessorLimits> multiprocessor_limits(int arch) {
  const auto found = std::find_if(kLimits.begin(), kLimits.end(),
                                  [&](const auto& one) { return one.arch == arch; });
  if (found == kLimits.end()) return std::nullopt;
  return *found;
}

std::string_view name(Limiter limiter) {
  switch (limiter) {
    case Limiter::registers:
      return "registers";
    case Limiter::shared_memory:
      return "shared_memory";
    case Limiter::block_size:
      return "block_size";
    case Limiter::blocks:
      return "blocks_per_multiprocessor";
  }
  return "";
}

Occupancy occupancy(const MultiprocessorLimits& limits, const BlockNeeds& needs) {
  const unsigned warps = (needs.threads + kWarpThreads - 1) / kWarpThreads;
  const unsigned max_warps = limits.max_threads / kWarpThreads;
  const std::array<std::pair<Limiter, unsigned>, 4> allowed{
      {{Limiter::registers, blocks_by_registers(warps, needs.registers_per_thread)},
       {Limiter::shared_memory, blocks_by_shared(limits, needs.shared_bytes)},
       {Limiter::block_size, max_warps / warps},
       {Limiter::blocks, limits.max_blocks}}};
  Occupancy result{.max_warps = max_warps};
  result.blocks =
      std::min_element(allowed.begin(), allowed.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      })->second;
  result.warps = result.blocks * warps;
  for (const auto& [limiter, blocks] : allowed) {
    result.allowed[static_cast<std::size_t>(limiter)] = blocks;
    if (blocks == result.blocks) result.limited_by.push_back(limiter);
  }
  return result;
}

}  // namespace assay::node
