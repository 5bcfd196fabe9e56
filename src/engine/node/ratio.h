// How much faster one kernel is than another, from turns they took on a device: each turn of the
// one beside a turn of the other, so that what drifts (clocks, temperature, neighbours) drifts for
// both. Pure; any thread.
#pragma once

#include <span>
#include <string_view>

namespace assay::node {

enum class RatioVerdict { faster, slower, indistinguishable };
[[nodiscard]] std::string_view name(RatioVerdict verdict);

struct Ratio {
  double ratio = 1;  // the reference's time over the candidate's: above 1, the candidate is faster
  double low = 0;    // of the interval
  double high = 0;
  std::size_t pairs = 0;
  RatioVerdict verdict = RatioVerdict::indistinguishable;
};

inline constexpr double kRatioConfidence = 0.99;
// Differences smaller than this are not worth a name, whatever the interval says.
inline constexpr double kMinimumEffect = 0.005;

// `reference` and `candidate`: one time per turn (the median of its samples), pairwise neighbours;
// all positive. The interval is Student's t on the logarithms of the pairs' ratios. REQUIRES equal
// lengths of at least 2.
// `doubt_ns`: by how much times of the same work may differ however often they are taken; the
// interval is that much wider.
[[nodiscard]] Ratio ratio_of(std::span<const double> reference, std::span<const double> candidate,
                             double doubt_ns = 0);

}  // namespace assay::node
