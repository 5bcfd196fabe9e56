// Where kernels stand under a device's roof, as a picture: operations per second over operations
// per byte, both by powers of ten. Self-contained SVG, readable on light and dark ground. Pure; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mcp/json.h"

namespace assay::tools {

struct Roofline {
  struct Point {
    std::string name{};
    double flops_per_byte = 0;
    double flops_per_second = 0;
  };
  // What can be said without a run: between these, and not above the roof.
  struct Span {
    double low = 0;
    double high = 0;
  };
  std::string title{};
  // 1 where only the ratio to the peak is known: then the picture says so.
  double flops_per_second = 1;
  double ridge = 1;  // operations per byte at which both limits meet
  std::vector<Point> points{};
  std::optional<Span> span{};
};

[[nodiscard]] std::string roofline_svg(const Roofline& roofline);

// Of the body of a profiled stage: a GPU's counters, or the emulator's estimate. Nothing where
// those needed were not counted or the device's peaks are unknown.
[[nodiscard]] std::optional<Roofline> roofline_of(const mcp::Json& profiled);

}  // namespace assay::tools
