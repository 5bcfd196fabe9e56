#include "plans/samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::plans {

using nlohmann::json;

namespace {

constexpr double kOutlierScore = 14.8;
constexpr double kNormalConsistency = 0.6745;  // MAD of a normal distribution, in deviations
constexpr double kLargeSpread = 0.2;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::size_t outliers_of(const std::vector<double>& values, double median) {
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::fabs(value - median));
  const double spread = percentile(distances, 50);
  if (spread == 0) return 0;
  return static_cast<std::size_t>(std::count_if(
      distances.begin(), distances.end(),
      [&](double distance) { return kNormalConsistency * distance / spread > kOutlierScore; }));
}

}  // namespace

json deviation(const std::vector<double>& values) {
  if (values.size() < 2) return nullptr;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double percentile(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double rank = percent / 100.0 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (rank - static_cast<double>(below));
}

json summary_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  const double median = percentile(values, 50);
  const json spread = deviation(values);
  json out = {{"count", values.size()},
              {"mean", mean},
              {"std", spread},
              {"min", *std::min_element(values.begin(), values.end())},
              {"max", *std::max_element(values.begin(), values.end())},
              {"median", median},
              {"p95", percentile(values, 95)},
              {"p99", percentile(values, 99)},
              {"outliers", outliers_of(values, median)}};
  json warnings = json::array();
  if (spread.is_number() && mean > 0) {
    out["cv"] = spread.get<double>() / mean;
    if (out["cv"].get<double>() > kLargeSpread) {
      warnings.push_back("the standard deviation is more than 20 % of the mean");
    }
  }
  if (values.size() >= 3 && values.front() == out["max"].get<double>() &&
      values.front() > 1.5 * median) {
    warnings.push_back("the first value is much the slowest: something was still warming up");
  }
  out["warnings"] = std::move(warnings);
  return out;
}

}  // namespace assay::plans
