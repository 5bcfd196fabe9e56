// The manual's runtime statistics over samples, in milliseconds and never rounded. Percentiles by
// linear interpolation between closest ranks and the population's standard deviation, as NumPy
// computes them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "mcp/json.h"

namespace assay::tools {

// {mean, std, min, max, median, percentile_95, percentile_99}; an empty object for no samples.
[[nodiscard]] mcp::OrderedJson runtime_stats_ms(std::vector<double> samples_ns);

// Between which two samples the true median lies with 99 % confidence, whatever their distribution:
// those whose ranks a binomial distribution of one half leaves at most 0.5 % outside of on each
// side (order statistics; any textbook of nonparametric statistics). Nothing for fewer than 8.
[[nodiscard]] std::optional<std::pair<double, double>> median_interval(std::vector<double> samples);

}  // namespace assay::tools
