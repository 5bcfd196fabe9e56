#include "engine/node/limiter.h"

#include <array>
#include <cstdio>
#include <string>

namespace assay::node {
namespace {

using nlohmann::json;

// A kernel this short is as long as what surrounds it: an empty one in a graph takes 0.6 us.
constexpr double kLaunchBoundNs = 3'000;
// Shares of the peak above which a unit is what the kernel waits for (Nsight Compute's own rule).
constexpr double kBusyPct = 60;
constexpr double kLowOccupancyPct = 35;

std::optional<double> value(const CounterValues& values, const char* counter) {
  const auto found = values.find(counter);
  if (found == values.end()) return std::nullopt;
  return found->second;
}

std::string text(const char* format, double number) {
  std::array<char, 160> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, number);
  return buffer.data();
}

json answer(const char* limiter, std::string first, std::string second, std::string suggestion) {
  return {{"limiter", limiter},
          {"facts", {std::move(first), std::move(second)}},
          {"suggestion", std::move(suggestion)}};
}

std::string occupancy_limits(const Occupancy& occupancy) {
  std::string names;
  for (const Limiter limiter : occupancy.limited_by) {
    names += (names.empty() ? "" : ", ") + std::string(name(limiter));
  }
  return names;
}

std::optional<json> too_few_blocks(const LaunchFacts& launch) {
  if (launch.multiprocessors == 0 || launch.grid_blocks >= launch.multiprocessors) return {};
  return answer("occupancy", std::to_string(launch.grid_blocks) + " blocks",
                std::to_string(launch.multiprocessors) + " multiprocessors",
                "Split the work into more blocks: multiprocessors without a block do nothing.");
}

}  // namespace

json limiter_of(const CounterValues& values, const LaunchFacts& launch, const TimingFacts& timing) {
  if (timing.kernel_ns && *timing.kernel_ns < kLaunchBoundNs) {
    return answer("launch", text("the kernel takes %.2f us", *timing.kernel_ns * 1e-3),
                  text("launching and timing one alone takes %.2f us more",
                       timing.event_overhead_ns.value_or(0) * 1e-3),
                  "Do more in one launch (fuse kernels, larger problem) or launch by a graph: a "
                  "faster kernel would hardly be noticed.");
  }
  if (auto few = too_few_blocks(launch)) return *few;
  const auto compute = value(values, "sm__throughput.avg.pct_of_peak_sustained_elapsed");
  const auto memory = value(values, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
  if (!compute || !memory) {
    return answer("unknown", "no hardware counters were read",
                  launch.occupancy
                      ? text("%.0f %% of the warps fit at once", launch.occupancy->percent())
                      : std::string("the target's limits are not documented"),
                  "Ask for device_metrics where counters may be read.");
  }
  const std::string compute_fact = text("compute units at %.0f %% of their peak", *compute);
  const std::string memory_fact = text("memory at %.0f %% of its peak", *memory);
  if (*memory >= kBusyPct && *memory >= *compute) {
    return answer("memory", memory_fact, compute_fact,
                  "Move fewer bytes: reuse data in registers or shared memory, fuse with the "
                  "kernel before or after, use narrower types.");
  }
  if (*compute >= kBusyPct) {
    return answer("compute", compute_fact, memory_fact,
                  "Do fewer or cheaper instructions: tensor cores, packed types, less index "
                  "arithmetic; look which pipe is busy (compute_metrics).");
  }
  const auto active = value(values, "sm__warps_active.avg.pct_of_peak_sustained_active");
  if (active && *active < kLowOccupancyPct && launch.occupancy &&
      launch.occupancy->percent() < 2 * kLowOccupancyPct) {
    return answer("occupancy", text("%.0f %% of the warps were active on average", *active),
                  text("%.0f %% fit at once, limited by ", launch.occupancy->percent()) +
                      occupancy_limits(*launch.occupancy),
                  "Let more warps fit (fewer registers or less shared memory per block, or other "
                  "block sizes), or give each thread independent work to overlap.");
  }
  return answer("latency", compute_fact, memory_fact,
                "Neither unit is busy: warps wait. Start loads earlier (unroll, asynchronous "
                "copies), widen accesses, avoid barriers and dependent chains; see stall_metrics.");
}

}  // namespace assay::node
