// What a launch takes by graphs of N and of 2N of them: their difference, which is free of what a
// graph costs beside its launches. Who spins in the shorter one, or before its first launch is
// done, has less of it, and a graph that seems to cost more: what it costs is the device's, so that
// it is bounded, and nearly the same for a kernel and for its reference.
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
// What a graph seems to cost beside its launches, by that: less than nothing where its later ones
// are slow.
[[nodiscard]] double beside_ns(const GraphTimes& times);

// Several pairs that were taken in one turn.
struct GraphTurn {
  double slope_ns = 0;  // the median of each; 0 of none
  double beside_ns = 0;
  std::uint32_t launches = 0;
};
[[nodiscard]] GraphTurn turn_of(const std::vector<GraphTimes>& pairs);

// By how much more a graph seems to cost in these turns, by their median, than in those of the
// other side, and than graphs of two honest sides differ.
[[nodiscard]] double excess_ns(const std::vector<GraphTurn>& turns,
                               const std::vector<GraphTurn>& others);
// Of one launch: what was seen, and of that what it is short of; 0 of a turn without any.
[[nodiscard]] double launch_ns(const GraphTurn& turn, double excess_ns);

}  // namespace assay::node
