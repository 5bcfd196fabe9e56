#include "engine/node/ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/node/median.h"

namespace assay::node {
namespace {

// Student's t, two-sided 99 %, for 1, 2, 3 … degrees of freedom (any statistics textbook's table);
// beyond them by its expansion in their reciprocal (Abramowitz and Stegun 26.7.5), exact to 0.0001.
constexpr std::array kStudent{63.657, 9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355,
                              3.250,  3.169, 3.106, 3.055, 3.012, 2.977, 2.947, 2.921,
                              2.898,  2.878, 2.861, 2.845, 2.831, 2.819, 2.807, 2.797,
                              2.787,  2.779, 2.771, 2.763, 2.756, 2.750};
constexpr double kNormal = 2.5758;

double student(std::size_t freedom) {
  if (freedom <= kStudent.size()) return kStudent[freedom - 1];
  const double x = kNormal;
  const double n = static_cast<double>(freedom);
  return x + (x * x * x + x) / (4 * n) +
         (5 * std::pow(x, 5) + 16 * x * x * x + 3 * x) / (96 * n * n);
}

}  // namespace

std::string_view name(RatioVerdict verdict) {
  switch (verdict) {
    case RatioVerdict::faster:
      return "faster";
    case RatioVerdict::slower:
      return "slower";
    case RatioVerdict::indistinguishable:
      return "indistinguishable";
  }
  return "";
}

bool is_borne_out(const Medians& repeated, const Medians& alone, double doubt_ns) {
  const double saved_repeated_ns = repeated.reference_ns - repeated.candidate_ns;
  const double saved_alone_ns = alone.reference_ns - alone.candidate_ns;
  const double expected_ns = kLeastBorneOut * std::abs(saved_repeated_ns);
  if (expected_ns <= doubt_ns) return true;
  return std::copysign(1, saved_repeated_ns) * saved_alone_ns >= expected_ns - doubt_ns;
}

Ratio ratio_of(std::span<const double> reference, std::span<const double> candidate,
               double doubt_ns) {
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    logarithms.push_back(std::log(reference[i] / candidate[i]));
  }
  const auto count = static_cast<double>(logarithms.size());
  double mean = 0;
  for (const double value : logarithms) mean += value / count;
  double squares = 0;
  for (const double value : logarithms) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(squares / (count - 1) / count);
  const double shorter_ns = std::min(median({reference.begin(), reference.end()}),
                                     median({candidate.begin(), candidate.end()}));
  const double half =
      student(logarithms.size() - 1) * error + (doubt_ns > 0 ? doubt_ns / shorter_ns : 0);
  Ratio out{.ratio = std::exp(mean),
            .low = std::exp(mean - half),
            .high = std::exp(mean + half),
            .pairs = logarithms.size()};
  // A mean is also of a few pairs that differ by much, as of a kernel that does less in some.
  const double least = std::log1p(kMinimumEffect);
  const double middle = median(logarithms);
  if (mean - half > 0 && std::min(mean, middle) > least) out.verdict = RatioVerdict::faster;
  if (mean + half < 0 && std::max(mean, middle) < -least) out.verdict = RatioVerdict::slower;
  return out;
}

}  // namespace assay::node
