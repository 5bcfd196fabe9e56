#include "tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::tools {
namespace {

constexpr double kNsPerMs = 1e6;

double percentile(const std::vector<double>& sorted, double percent) {
  const double rank = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = rank - static_cast<double>(below);
  return sorted[below] + (sorted[above] - sorted[below]) * part;
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
  stats["median"] = percentile(samples_ns, 50);
  stats["percentile_95"] = percentile(samples_ns, 95);
  stats["percentile_99"] = percentile(samples_ns, 99);
  return stats;
}

}  // namespace assay::tools
