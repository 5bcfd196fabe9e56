#include "engine/node/graph_slope.h"

#include <algorithm>

#include "engine/node/median.h"

namespace assay::node {
namespace {

// Launching a graph of one side alone, and its first launch: 1.6 to 4.6 us on an H100
// (benchmarks/RESULTS.md, 2026-11-28). And a share of it, by which a long one varies.
constexpr double kMostBesideNs = 10'000;
constexpr double kMostBeside = 0.02;
// By how much those of two sides differed there: they have the same to copy, beside it.
constexpr double kCostsDifferNs = 2'000;

double median_beside_ns(const std::vector<GraphTimes>& turns) {
  std::vector<double> beside;
  for (const GraphTimes& times : turns) beside.push_back(beside_ns(times));
  return median(std::move(beside));
}

}  // namespace

double beside_ns(const GraphTimes& times) { return 2 * times.once_ns - times.twice_ns; }

double launch_ns(const GraphTimes& times, double beside_ns) {
  return times.launches == 0 ? 0 : (times.twice_ns - beside_ns) / (2.0 * times.launches);
}

double slope_ns(const GraphTimes& times) {
  const double most_ns = kMostBesideNs + kMostBeside * times.twice_ns;
  return launch_ns(times, std::min(beside_ns(times), most_ns));
}

GraphTimes median_of(const std::vector<GraphTimes>& pairs) {
  std::vector<double> once;
  std::vector<double> twice;
  for (const GraphTimes& times : pairs) {
    once.push_back(times.once_ns);
    twice.push_back(times.twice_ns);
  }
  return {.once_ns = median(std::move(once)),
          .twice_ns = median(std::move(twice)),
          .launches = pairs.front().launches};
}

GraphCosts graph_costs(const std::vector<GraphTimes>& one, const std::vector<GraphTimes>& other) {
  const double one_ns = median_beside_ns(one);
  const double other_ns = median_beside_ns(other);
  const double most_ns = std::max(0.0, std::min(one_ns, other_ns)) + kCostsDifferNs;
  return {.one_ns = std::clamp(one_ns, 0.0, most_ns),
          .other_ns = std::clamp(other_ns, 0.0, most_ns)};
}

}  // namespace assay::node
