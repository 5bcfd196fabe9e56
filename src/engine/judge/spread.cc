#include "engine/judge/spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/judge/elements.h"

namespace assay::judge {
namespace {

constexpr std::size_t kLookedAt = 4096;

// Somewhere in each stretch: even steps through rows of as many would see one column alone.
std::size_t within(std::size_t stretch, std::size_t step) {
  constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
  return static_cast<std::size_t>((stretch * kScatter >> 32) % step);
}

std::vector<double> some_of(const TensorView& tensor) {
  const std::size_t elements = tensor.bytes.size() / contract::size_bytes(tensor.dtype);
  const std::size_t step = std::max<std::size_t>(elements / kLookedAt, 1);
  std::vector<double> values;
  for (std::size_t begin = 0; begin + step <= elements; begin += step) {
    const std::size_t i = begin + within(begin / step, step);
    const double value = element_value(tensor.bytes, i, tensor.dtype).real();
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

}  // namespace

double spread_of(const TensorView& tensor) {
  const std::vector<double> values = some_of(tensor);
  if (values.empty()) return 1;
  // From the first on: what is far from zero has its variance as exactly as what is not.
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value - values.front();
    squares += (value - values.front()) * (value - values.front());
  }
  const auto count = static_cast<double>(values.size());
  const double mean = sum / count;
  const double variance = squares / count - mean * mean;
  if (variance <= 0) return 1;
  return 1 + (mean + values.front()) * (mean + values.front()) / variance;
}

double middle_size(const TensorView& tensor) {
  std::vector<double> values = some_of(tensor);
  std::erase(values, 0.0);
  if (values.empty()) return 0;
  for (double& value : values) value = std::fabs(value);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace assay::judge
