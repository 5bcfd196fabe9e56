// When enough cold runs were taken. What a caller asks for is what he gets, to the run. Where he
// said nothing, the usual number stands unless the median is known less well by it than it could
// be: then more are taken, within a budget of the device's time. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::node {

enum class StoppedBy {
  interval,    // half the median's 99 % interval is at most kEnough of it
  resolution,  // it is wider, but no wider than what an event's clock leaves open
  num_trials,  // as many as were asked for
  budget,      // the device's time, or the most runs that are added
};
[[nodiscard]] std::string_view name(StoppedBy stopped_by);

// Half of the median's 99 % interval, as a share of it.
inline constexpr double kEnoughOfMedian = 0.005;
// The resolution of an event (CUDA Driver API, cuEventElapsedTime: around 0.5 us). No number of
// runs is worth more than that; kernels below 100 us are told apart by the graph's slope.
inline constexpr double kEventResolutionNs = 500;
// Of runs that are added to those asked for: all together at most so many times as many, and not
// beyond this time on the device.
inline constexpr std::uint32_t kMostTimesAsked = 4;
inline constexpr double kAddedBudgetNs = 200e6;

struct ColdSoFar {
  std::vector<double> samples_ns{};  // in any order
  std::uint32_t asked = 0;           // runs, by the caller or as usual
  bool may_add = false;              // nobody said how many
  bool was_cut = false;              // the time budget allows fewer than asked
  double beside_ns = 0;              // what a run takes of the device besides the kernel
  // That the call's timeout has left: runs that nobody asked for take a quarter of it at most.
  double left_ns = 1e18;
};
struct ColdNext {
  std::uint32_t more = 0;  // runs to take; 0: enough
  StoppedBy stopped_by = StoppedBy::num_trials;
  std::optional<double> half_share{};  // of the interval, in the median; nothing: too few to tell
};
// What is asked again after the runs it wanted ends: each step adds half of `asked` at least, or
// what the budget has left.
[[nodiscard]] ColdNext next_cold_runs(const ColdSoFar& so_far);

}  // namespace assay::node
