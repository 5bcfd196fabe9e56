// What a launch takes by graphs of N and of 2N of them: the longer one less what a graph costs
// beside its launches. Each by itself can only say that of their difference, and who spins in the
// shorter one, or before its first launch is done, has less of it: what a graph costs is the
// device's, so that it is bounded, and nearly the same for a kernel and for its reference.
//
// Values; any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::node {

struct GraphTimes {
  double once_ns = 0;   // of N launches
  double twice_ns = 0;  // of 2N
  std::uint32_t launches = 0;
};

// Of one launch by one such pair: their difference, at least what the longer one takes less the
// most that a graph costs.
[[nodiscard]] double slope_ns(const GraphTimes& times);
// What a graph seems to cost beside its launches: less than nothing where its later ones are slow.
[[nodiscard]] double beside_ns(const GraphTimes& times);
// Of one launch, where a graph costs that; 0 where there are none.
[[nodiscard]] double launch_ns(const GraphTimes& times, double beside_ns);

// The medians of several of the same N. REQUIRES one.
[[nodiscard]] GraphTimes median_of(const std::vector<GraphTimes>& pairs);

// Of two sides that take turns: what a graph costs each, by the median of all its own.
struct GraphCosts {
  double one_ns = 0;
  double other_ns = 0;
};
// None of both more than the other's by more than honest ones differ, and none less than nothing.
[[nodiscard]] GraphCosts graph_costs(const std::vector<GraphTimes>& one,
                                     const std::vector<GraphTimes>& other);

}  // namespace assay::node
