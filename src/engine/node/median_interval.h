// How well the median of some samples is known, whatever their distribution. Pure; any thread.
#pragma once

#include <optional>
#include <utility>
#include <vector>

namespace assay::node {

// Between which two samples the true median lies with 99 % confidence, whatever their distribution:
// those whose ranks a binomial distribution of one half leaves at most 0.5 % outside of on each
// side (order statistics; any textbook of nonparametric statistics). Nothing for fewer than 8.
[[nodiscard]] std::optional<std::pair<double, double>> median_interval(std::vector<double> samples);

}  // namespace assay::node
