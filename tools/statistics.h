// The manual's runtime statistics over samples, in milliseconds and never rounded. Percentiles by
// linear interpolation between closest ranks and the population's standard deviation, as NumPy
// computes them.
#pragma once

#include <vector>

#include "engine/node/median_interval.h"
#include "mcp/json.h"

namespace assay::tools {

// {mean, std, min, max, median, percentile_95, percentile_99}; an empty object for no samples.
[[nodiscard]] mcp::OrderedJson runtime_stats_ms(std::vector<double> samples_ns);

using node::median_interval;

}  // namespace assay::tools
