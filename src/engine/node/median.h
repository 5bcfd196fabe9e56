// The middle of some measurements; of an even number of them the mean of the two in the middle, as
// the report's statistics have it. Pure; any thread.
#pragma once

#include <algorithm>
#include <vector>

namespace assay::node {

// 0 of none.
[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace assay::node
