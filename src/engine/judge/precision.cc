#include "engine/judge/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/judge/elements.h"
#include "engine/judge/moments.h"
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

// Five times what a plain sum was reckoned to lose.
constexpr double kOfTerms = 4;
// Of what is left where a type holds nothing of the value at all.
constexpr double kBeyondAllBits = 0x1p30;
// Roots of mean squares so far apart are not those of inputs and of what was only added up.
constexpr double kSmaller = 4;

// What of an input's distance from zero is not there in the output any more: a product of what lies
// far from zero does so itself, a difference does not. Sums of many lie closer together than what
// they are made of; there a difference is told by its size.
double cancelled(const Moments& input, std::uint64_t elements, const Moments& output,
                 std::uint64_t output_elements) {
  const bool is_small = kSmaller * kSmaller * output.mean_square < input.mean_square;
  if (output_elements < elements && is_small) return input.spread;
  return std::max(1.0, input.spread / output.spread);
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

double most_ratio(std::span<const TensorView> inputs, const TensorView& output) {
  double terms = 1;
  double spread = 1;
  const std::size_t output_elements = output.bytes.size() / contract::size_bytes(output.dtype);
  const Moments of_output = moments_of(output);
  const auto outputs = static_cast<double>(std::max<std::size_t>(output_elements, 1));
  std::vector<double> sizes;
  for (const TensorView& input : inputs) {
    if (!contract::is_floating(input.dtype)) continue;
    const std::size_t elements = input.bytes.size() / contract::size_bytes(input.dtype);
    for (const double other : sizes) {  // as many as a product of matrices adds
      terms = std::max(terms, std::sqrt(other * static_cast<double>(elements) / outputs));
    }
    sizes.push_back(static_cast<double>(elements));
    terms = std::max(terms, static_cast<double>(elements) / outputs);
    if (!input.shape.empty()) terms = std::max(terms, static_cast<double>(input.shape.back()));
    spread = std::max(spread, cancelled(moments_of(input), elements, of_output, output_elements));
  }
  return std::max(kMostRatio, kOfTerms * std::sqrt(terms)) * spread;
}

bool is_of_fewer_bits(const Precision& precision, double most) {
  return precision.elements >= kLeastElements && precision.ratio > most &&
         precision.ratio < kBeyondAllBits;
}

}  // namespace assay::judge
