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
// all positive. The interval is Student's t on the logarithms of the pairs' ratios; what it says is
// a verdict where most pairs say so, too. REQUIRES equal lengths of at least 2. `doubt_ns`: by how
// much times of the same work may differ however often they are taken; the interval is that much
// wider.
[[nodiscard]] Ratio ratio_of(std::span<const double> reference, std::span<const double> candidate,
                             double doubt_ns = 0);

// Medians of both, measured in the same way.
struct Medians {
  double reference_ns = 0;
  double candidate_ns = 0;
};
// Times resolved by events around single launches leave so much open.
inline constexpr double kBorneOutDoubtNs = 500;
inline constexpr double kLeastBorneOut = 0.5;
// Whether a difference that launches back to back show is one of a launch alone: that half of it at
// least is there, too. One that is not there is of warm caches, or of a kernel that knows when it
// is repeated. `doubt_ns`: what a launch alone may cost either of them beside its work.
[[nodiscard]] bool is_borne_out(const Medians& repeated, const Medians& alone,
                                double doubt_ns = kBorneOutDoubtNs);

}  // namespace assay::node
