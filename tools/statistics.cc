#include "tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plans/samples.h"

namespace assay::tools {
namespace {

constexpr double kNsPerMs = 1e6;

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

}  // namespace assay::tools
