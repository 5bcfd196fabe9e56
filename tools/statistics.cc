#include "tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plans/samples.h"

namespace assay::tools {
namespace {

constexpr double kNsPerMs = 1e6;
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

mcp::OrderedJson runtime_stats_ms(std::vector<double> samples_ns) {
  mcp::OrderedJson stats = mcp::OrderedJson::object();
  if (samples_ns.empty()) return stats;
  for (double& sample : samples_ns) sample /= kNsPerMs;
  std::sort(samples_ns.begin(), samples_ns.end());
  const auto count = static_cast<double>(samples_ns.size());
  const double mean = std::accumulate(samples_ns.begin(), samples_ns.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples_ns) squares += (sample - mean) * (sample - mean);
  stats["mean"] = mean;
  stats["std"] = std::sqrt(squares / count);
  stats["min"] = samples_ns.front();
  stats["max"] = samples_ns.back();
  stats["median"] = plans::percentile(samples_ns, 50);
  stats["percentile_95"] = plans::percentile(samples_ns, 95);
  stats["percentile_99"] = plans::percentile(samples_ns, 99);
  return stats;
}

std::optional<std::pair<double, double>> median_interval(std::vector<double> samples) {
  const std::size_t below = left_below(samples.size());
  if (below == 0) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  return std::pair(samples[below - 1], samples[samples.size() - below]);
}

}  // namespace assay::tools
