#include "engine/judge/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/judge/elements.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;

// One by one: the root of a mean square, and the greatest.
class Errors {
 public:
  void add(double error) {
    squares_ += error * error;
    max_ = std::max(max_, std::fabs(error));
    ++count_;
  }
  [[nodiscard]] double mean() const {
    return count_ == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count_));
  }
  [[nodiscard]] double max() const { return max_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  double squares_ = 0;
  double max_ = 0;
  std::uint64_t count_ = 0;
};

// What rounding a number of this size leaves on the average: inputs may be such that the reference
// has no error at all, and one more rounding than it has is no arithmetic in fewer bits.
double usual_rounding(double value, DType dtype) {
  constexpr double kOfAUnit = 0.28867513459481287;  // 1/√12
  const double next = from_bits(next_up(to_bits(value, dtype), dtype), dtype);
  return std::isfinite(next) ? (next - value) * kOfAUnit : 0;
}

double ratio_of_errors(double error, double least) {
  if (least > 0) return error / least;
  return error > 0 ? std::numeric_limits<double>::infinity() : 1;
}

}  // namespace

std::optional<Precision> precision_of(const InDouble& exact, std::span<const std::byte> reference,
                                      std::span<const std::byte> got, DType dtype) {
  if (!contract::is_floating(dtype) || dtype == DType::float64) return std::nullopt;
  Errors of_kernel;
  Errors of_reference;
  Errors of_rounding;
  Errors usual;
  const std::size_t elements = got.size() / contract::size_bytes(dtype);
  for (std::size_t i = 0; i < elements; ++i) {
    const double high = element_value(exact.high, i, dtype).real();
    const double want = high + element_value(exact.low, i, dtype).real();
    const double theirs = element_value(reference, i, dtype).real();
    const double ours = element_value(got, i, dtype).real();
    if (!std::isfinite(want) || !std::isfinite(theirs) || !std::isfinite(ours)) continue;
    of_kernel.add(ours - want);
    of_reference.add(theirs - want);
    of_rounding.add(high - want);
    usual.add(usual_rounding(high, dtype));
  }
  Precision precision{.error = of_kernel.mean(),
                      .max_error = of_kernel.max(),
                      .reference_error = of_reference.mean(),
                      .reference_max_error = of_reference.max(),
                      .rounding_error = of_rounding.mean(),
                      .elements = of_kernel.count()};
  precision.ratio = ratio_of_errors(
      precision.error,
      std::max({precision.reference_error, precision.rounding_error, usual.mean()}));
  return precision;
}

}  // namespace assay::judge
