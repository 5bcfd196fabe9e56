#include "engine/judge/moments.h"

#include <algorithm>
#include <cmath>

#include "engine/judge/elements.h"

namespace assay::judge {
namespace {

constexpr std::size_t kLookedAt = 4096;

}  // namespace

Moments moments_of(const TensorView& tensor) {
  const std::size_t elements = tensor.bytes.size() / contract::size_bytes(tensor.dtype);
  const std::size_t step = std::max<std::size_t>(elements / kLookedAt, 1);
  double sum = 0;
  double squares = 0;
  double count = 0;
  double first = 0;  // finite: what is far from zero has its variance as exactly as what is not
  for (std::size_t i = 0; i < elements; i += step) {
    const double value = element_value(tensor.bytes, i, tensor.dtype).real();
    if (!std::isfinite(value)) continue;
    if (count == 0) first = value;
    sum += value - first;
    squares += (value - first) * (value - first);
    ++count;
  }
  if (count == 0) return {};
  const double mean = sum / count;
  const double variance = std::max(squares / count - mean * mean, 0.0);
  Moments moments{.mean_square = (mean + first) * (mean + first) + variance};
  if (variance > 0) moments.spread = moments.mean_square / variance;
  return moments;
}

}  // namespace assay::judge
