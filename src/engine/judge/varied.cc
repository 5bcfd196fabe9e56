#include "engine/judge/varied.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/judge/elements.h"
#include "engine/judge/philox.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;

double fraction(std::uint32_t word) { return word / 4294967296.0; }

}  // namespace

void vary(std::span<std::byte> tensor, DType dtype, std::uint64_t seed) {
  const DType part = contract::component(dtype);
  if (!contract::is_floating(part)) return;
  const std::size_t size = contract::size_bytes(part);
  const std::size_t count = tensor.size() / size;
  double greatest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = std::fabs(from_bits(element_bits(tensor, i, part), part));
    if (std::isfinite(value)) greatest = std::max(greatest, value);
  }
  if (greatest == 0) return;
  const PhiloxBlock drawn = philox(seed, 0, 0);
  const double scale = 0.6 + 0.3 * fraction(drawn[0]);
  const double bend = 0.5 + 0.5 * fraction(drawn[1]);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = from_bits(element_bits(tensor, i, part), part);
    if (!std::isfinite(value)) continue;
    const double bent = value * ((1 + bend * (std::fabs(value) / greatest)) / (1 + bend));
    const std::uint64_t bits = to_bits(scale * bent, part);
    std::memcpy(tensor.data() + i * size, &bits, size);
  }
}

}  // namespace assay::judge
