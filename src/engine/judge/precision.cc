#include "engine/judge/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/judge/elements.h"
#include "engine/judge/scalar_conversion.h"
#include "engine/judge/spread.h"

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

// Five times what a plain sum was reckoned to lose.
constexpr double kOfTerms = 4;
// Of what is left where a type holds nothing of the value at all.
constexpr double kBeyondAllBits = 0x1p30;
// What cancels was seen to lose a twentieth of what this reckons, or less: that is covered by the
// plain limit, which is twenty times what sums in another order lose.
constexpr double kCoveredAnyway = 16;
// Rows as long as this are not all added up: an output of the same shape may be made of each number
// alone, and what half of a type's digits lose has to be seen.
constexpr double kMostTermsOfRows = 1 << 18;

std::size_t elements_of(const TensorView& tensor) {
  return tensor.bytes.size() / contract::size_bytes(tensor.dtype);
}

// Of a product of matrices, as many as it adds, or 0: tensors of one shape are multiplied element
// by element, unless they are square.
double terms_of_product(const TensorView& a, const TensorView& b, const TensorView& output,
                        double outputs) {
  if (a.shape.size() < 2 || b.shape.size() < 2) return 0;
  const bool is_one_shape = a.shape == b.shape && a.shape == output.shape;
  const bool is_square = a.shape.back() == a.shape[a.shape.size() - 2];
  if (is_one_shape && !is_square) return 0;
  return std::sqrt(static_cast<double>(elements_of(a)) * static_cast<double>(elements_of(b)) /
                   outputs);
}

double ratio_of_errors(double error, double least) {
  if (least > 0) return error / least;
  return error > 0 ? std::numeric_limits<double>::infinity() : 1;
}

double ratio_of(const Precision& told) {
  return ratio_of_errors(told.error,
                         std::max({told.reference_error, told.rounding_error, told.usual_error}));
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
                      .usual_error = usual.mean(),
                      .elements = of_kernel.count()};
  precision.ratio = ratio_of(precision);
  return precision;
}

Precision together(const Precision& one, const Precision& other) {
  const auto mean = [&](double Precision::*error) {
    const auto a = static_cast<double>(one.elements);
    const auto b = static_cast<double>(other.elements);
    if (a + b == 0) return 0.0;
    return std::sqrt((a * one.*error * one.*error + b * other.*error * other.*error) / (a + b));
  };
  Precision all{.error = mean(&Precision::error),
                .max_error = std::max(one.max_error, other.max_error),
                .reference_error = mean(&Precision::reference_error),
                .reference_max_error = std::max(one.reference_max_error, other.reference_max_error),
                .rounding_error = mean(&Precision::rounding_error),
                .usual_error = mean(&Precision::usual_error),
                .elements = one.elements + other.elements};
  all.ratio = ratio_of(all);
  return all;
}

RatioLimits ratio_limits(std::span<const TensorView> inputs, const TensorView& output) {
  const auto outputs = static_cast<double>(std::max<std::size_t>(elements_of(output), 1));
  double added = 1;  // for one output
  double rows = 1;
  double products = 1;
  double input_spread = 1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& input = inputs[i];
    if (!contract::is_floating(input.dtype)) continue;
    const auto elements = static_cast<double>(elements_of(input));
    added = std::max(added, elements / outputs);
    if (!input.shape.empty()) rows = std::max(rows, static_cast<double>(input.shape.back()));
    input_spread = std::max(input_spread, spread_of(input));
    for (const TensorView& other : inputs.first(i)) {
      if (!contract::is_floating(other.dtype)) continue;
      products = std::max(products, terms_of_product(other, input, output, outputs));
    }
  }
  const double terms = std::max({added, products, std::min(rows, kMostTermsOfRows)});
  const double plain = std::max(kMostRatio, kOfTerms * std::sqrt(terms));
  // Of what lies around zero nothing cancels. What was only added up lies as much closer together
  // as it has terms, beside its size.
  const double cancelled = (input_spread - 1) * std::max(added, products) / spread_of(output);
  return {.plain = plain, .cancelling = plain * std::max(1.0, cancelled / kCoveredAnyway)};
}

Bits bits_of(const Precision& precision, const RatioLimits& limits) {
  if (precision.elements < kLeastElements || precision.ratio <= limits.plain ||
      precision.ratio >= kBeyondAllBits) {
    return Bits::as_many;
  }
  return precision.ratio > limits.cancelling ? Bits::fewer : Bits::unclear;
}

}  // namespace assay::judge
