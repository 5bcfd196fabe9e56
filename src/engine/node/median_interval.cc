#include "engine/node/median_interval.h"

#include <algorithm>
#include <cmath>

namespace assay::node {
namespace {

constexpr double kOutsideOnEachSide = 0.005;

// How many samples may lie below the interval: the most k with P(Binomial(n, 1/2) <= k - 1) at most
// the share outside.
std::size_t left_below(std::size_t count) {
  double log_of_one = -static_cast<double>(count) * std::log(2.0);  // P(Binomial = k)
  double below = 0;
  for (std::size_t k = 0; k < count; ++k) {
    below += std::exp(log_of_one);
    if (below > kOutsideOnEachSide) return k;
    log_of_one += std::log(static_cast<double>(count - k) / static_cast<double>(k + 1));
  }
  return 0;
}

}  // namespace

std::optional<std::pair<double, double>> median_interval(std::vector<double> samples) {
  const std::size_t below = left_below(samples.size());
  if (below == 0) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return std::pair(samples[below - 1], samples[samples.size() - below]);
}

}  // namespace assay::node
