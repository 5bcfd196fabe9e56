// Samples as a picture: one histogram over all series on one axis, with the median of each. Self
// contained SVG, readable on light and dark ground. Pure; any thread.
#pragma once

#include <string>
#include <vector>

namespace assay::tools {

struct Series {
  std::string name{};
  std::vector<double> samples_ns{};
};

struct Histogram {
  std::string title{};
  std::vector<Series> series{};  // at most two are told apart by colour; empty ones are left out
};

[[nodiscard]] std::string histogram_svg(const Histogram& histogram);

// How many samples fall into each of `bins` equal parts of [low, high]; what lies outside counts at
// the nearer end. REQUIRES low < high, bins > 0.
[[nodiscard]] std::vector<std::size_t> binned(const std::vector<double>& samples, double low,
                                              double high, std::size_t bins);

}  // namespace assay::tools
