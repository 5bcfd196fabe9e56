// Statistics over repeated measurements, for records of generators and commits. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace assay::plans {

// The standard deviation of a sample (n − 1); null for fewer than two.
[[nodiscard]] nlohmann::json deviation(const std::vector<double>& values);
// Linear interpolation between closest ranks. REQUIRES at least one value.
[[nodiscard]] double percentile(std::vector<double> values, double percent);

// {count, mean, std, min, max, median, p95, p99, cv, outliers, warnings[]}: outliers by a modified
// z-score above 14.8 (median absolute deviation); warnings for a spread above 20 % and a slow first
// value. REQUIRES at least one value.
[[nodiscard]] nlohmann::json summary_of(const std::vector<double>& values);

}  // namespace assay::plans
