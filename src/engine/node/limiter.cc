#include "engine/node/limiter.h"

#include <algorithm>
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
constexpr double kClearlyPct = 5;  // what one is busier than another, to be told from it

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

// What a conclusion rests on.
struct Ground {
  const char* basis = "counters";
  const char* confidence = "high";
};
constexpr Ground kMeasured{};
constexpr Ground kTimed{.basis = "timing"};
constexpr Ground kComputed{.basis = "computed"};
constexpr Ground kLikely{.basis = "computed", .confidence = "low"};
constexpr Ground kNone{.basis = "computed", .confidence = "none"};

json answer(const char* limiter, const Ground& ground, std::string first, std::string second,
            std::string suggestion) {
  return {{"limiter", limiter},
          {"basis", ground.basis},
          {"confidence", ground.confidence},
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
  return answer("occupancy", kComputed, std::to_string(launch.grid_blocks) + " blocks",
                std::to_string(launch.multiprocessors) + " multiprocessors",
                "Split the work into more blocks: multiprocessors without a block do nothing.");
}

constexpr const char* kFewerBytes =
    "Move fewer bytes: reuse data in registers or shared memory, fuse with the "
    "kernel before or after, use narrower types.";
constexpr const char* kMoreWarps =
    "Let more warps fit (fewer registers or less shared memory per block, or other "
    "block sizes), or give each thread independent work to overlap.";

std::string fit_fact(const LaunchFacts& launch) {
  if (!launch.occupancy) return "the target's limits are not documented";
  return text("%.0f %% of the warps fit at once, limited by ", launch.occupancy->percent()) +
         occupancy_limits(*launch.occupancy);
}

// How much of the memory's rate the contract's tensors account for.
std::string traffic_fact(const Traffic& traffic) {
  const auto share = traffic.share_pct();
  if (share && (traffic.stays_in_l2 || !traffic.kernel_ns)) {
    return text("what the contract reads takes %.0f %% of the memory's peak in a cold run", *share);
  }
  if (const auto reached = traffic.reached()) {
    return text("the contract's bytes in the measured time are %.0f GB/s", *reached * 1e-9) +
           (share ? text(", %.0f %% of the memory's peak", *share)
                  : std::string(", from the L2 cache as far as they fit"));
  }
  return "the kernel's time is not known";
}

// Between the multiprocessors and the memory: caches and shared memory, whichever is busiest.
// Nothing where the memory or the compute units are as busy.
std::optional<json> busy_caches(const CounterValues& values, double compute, double memory) {
  const auto all =
      value(values, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
  if (!all || *all < kBusyPct || *all < std::max(compute, memory) + kClearlyPct) return {};
  return answer("memory", kMeasured, text("caches or shared memory at %.0f %% of their peak", *all),
                text("memory behind them at %.0f %% of its peak", memory),
                "Take less through the caches: reuse data in registers, widen and coalesce "
                "accesses, avoid bank conflicts; memory_metrics and l2_throughput_pct say which.");
}

json without_counters(const LaunchFacts& launch, const Traffic& traffic) {
  const auto share = traffic.share_pct();
  const std::string memory_fact = traffic_fact(traffic);
  if (share && *share > kMostSharePct) {
    return answer("unknown", kNone, memory_fact, fit_fact(launch),
                  "It does not touch all of its tensors, so that nothing follows from their size. "
                  "Ask for the section speed_of_light where counters may be read.");
  }
  if (share && *share >= kBusyPct) {
    return answer("memory", kComputed, memory_fact, fit_fact(launch), kFewerBytes);
  }
  if (auto few = too_few_blocks(launch)) return *few;
  if (launch.occupancy && launch.occupancy->percent() < kLowOccupancyPct) {
    return answer("occupancy", kLikely, fit_fact(launch), memory_fact, kMoreWarps);
  }
  return answer(
      "unknown", kNone, memory_fact, fit_fact(launch),
      "Without counters it cannot be told whether it waits, computes or moves bytes that "
      "the contract does not ask for. Look at the machine code (widths of accesses, local "
      "memory, tensor cores), or ask for the section speed_of_light where counters may be "
      "read.");
}

}  // namespace

json limiter_of(const CounterValues& values, const LaunchFacts& launch, const TimingFacts& timing,
                const Traffic& traffic) {
  if (timing.kernel_ns && *timing.kernel_ns < kLaunchBoundNs) {
    return answer("launch", kTimed, text("the kernel takes %.2f us", *timing.kernel_ns * 1e-3),
                  text("launching and timing one alone takes %.2f us more",
                       timing.event_overhead_ns.value_or(0) * 1e-3),
                  "Do more in one launch (fuse kernels, larger problem) or launch by a graph: a "
                  "faster kernel would hardly be noticed.");
  }
  const auto compute = value(values, "sm__throughput.avg.pct_of_peak_sustained_elapsed");
  const auto memory = value(values, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed");
  if (!compute || !memory) return without_counters(launch, traffic);
  const std::string compute_fact = text("compute units at %.0f %% of their peak", *compute);
  const std::string memory_fact = text("memory at %.0f %% of its peak", *memory);
  if (*memory >= kBusyPct && *memory >= *compute) {
    return answer("memory", kMeasured, memory_fact, compute_fact, kFewerBytes);
  }
  if (auto caches = busy_caches(values, *compute, *memory)) return *std::move(caches);
  if (*compute >= kBusyPct) {
    return answer("compute", kMeasured, compute_fact, memory_fact,
                  "Do fewer or cheaper instructions: tensor cores, packed types, less index "
                  "arithmetic; look which pipe is busy (compute_metrics).");
  }
  if (auto few = too_few_blocks(launch)) return *few;
  const auto active = value(values, "sm__warps_active.avg.pct_of_peak_sustained_active");
  if (active && *active < kLowOccupancyPct && launch.occupancy &&
      launch.occupancy->percent() < 2 * kLowOccupancyPct) {
    return answer("occupancy", kMeasured,
                  text("%.0f %% of the warps were active on average", *active), fit_fact(launch),
                  kMoreWarps);
  }
  return answer("latency", kMeasured, compute_fact, memory_fact,
                "Neither unit is busy: warps wait. Start loads earlier (unroll, asynchronous "
                "copies), widen accesses, avoid barriers and dependent chains; see stall_metrics.");
}

}  // namespace assay::node
