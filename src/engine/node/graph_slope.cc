#include "engine/node/graph_slope.h"

#include <algorithm>

#include "engine/node/median.h"

namespace assay::node {
namespace {

// Launching a graph, and its first launch: 1.6 to 5.5 us on an H100, of few repetitions up to 10
// (benchmarks/RESULTS.md, 2026-11-28). And a share of it, by which a long one varies.
constexpr double kMostBesideNs = 10'000;
constexpr double kMostBeside = 0.02;
// By how much the medians of two honest sides differ; and what a graph of any side costs, be its
// later launches as slow as they like.
constexpr double kCostsDifferNs = 2'000;
constexpr double kCostsAtLeastNs = 2'500;

double median_beside_ns(const std::vector<GraphTurn>& turns) {
  std::vector<double> beside;
  for (const GraphTurn& turn : turns) {
    if (turn.launches > 0) beside.push_back(turn.beside_ns);
  }
  return median(std::move(beside));
}

}  // namespace

double beside_ns(const GraphTimes& times) {
  return std::min(2 * times.once_ns - times.twice_ns, kMostBesideNs + kMostBeside * times.twice_ns);
}

double slope_ns(const GraphTimes& times) {
  if (times.launches == 0) return 0;
  return (times.twice_ns - beside_ns(times)) / (2.0 * times.launches);
}

GraphTurn turn_of(const std::vector<GraphTimes>& pairs) {
  if (pairs.empty()) return {};
  std::vector<double> slopes;
  std::vector<double> beside;
  for (const GraphTimes& times : pairs) {
    slopes.push_back(slope_ns(times));
    beside.push_back(beside_ns(times));
  }
  return {.slope_ns = median(std::move(slopes)),
          .beside_ns = median(std::move(beside)),
          .launches = pairs.front().launches};
}

double excess_ns(const std::vector<GraphTurn>& turns, const std::vector<GraphTurn>& others) {
  const double expected_ns = std::max(median_beside_ns(others), kCostsAtLeastNs) + kCostsDifferNs;
  return std::max(median_beside_ns(turns) - expected_ns, 0.0);
}

double launch_ns(const GraphTurn& turn, double excess_ns) {
  return turn.launches == 0 ? 0 : turn.slope_ns + excess_ns / (2.0 * turn.launches);
}

}  // namespace assay::node
