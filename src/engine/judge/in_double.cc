#include "engine/judge/in_double.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "engine/contract/in_double.h"
#include "engine/judge/elements.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;

// As both sides agree on it: elements, or components of complex ones.
std::size_t numbers_of(std::size_t bytes, std::size_t wide_bytes, DType dtype) {
  const std::size_t size = contract::size_bytes(contract::component(dtype));
  const std::size_t count = bytes / size;
  if (bytes % size != 0 || wide_bytes != count * sizeof(double)) {
    throw std::invalid_argument("in double: not as many elements");
  }
  return count;
}

void put(std::span<std::byte> to, std::size_t index, std::uint64_t bits, std::size_t size) {
  std::memcpy(to.data() + index * size, &bits, size);  // little-endian, as every device is
}

}  // namespace

void widen(std::span<const std::byte> elements, DType dtype, std::span<std::byte> wide) {
  if (contract::wider(dtype) == dtype) {
    if (elements.size() != wide.size()) throw std::invalid_argument("in double: sizes differ");
    std::copy(elements.begin(), elements.end(), wide.begin());
    return;
  }
  const DType part = contract::component(dtype);
  const std::size_t count = numbers_of(elements.size(), wide.size(), dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = from_bits(element_bits(elements, i, part), part);
    put(wide, i, std::bit_cast<std::uint64_t>(value), sizeof value);
  }
}

void split(std::span<const std::byte> wide, DType dtype, std::span<std::byte> high,
           std::span<std::byte> low) {
  if (high.size() != low.size()) throw std::invalid_argument("in double: parts differ");
  if (contract::wider(dtype) == dtype) {
    if (high.size() != wide.size()) throw std::invalid_argument("in double: sizes differ");
    std::copy(wide.begin(), wide.end(), high.begin());
    std::fill(low.begin(), low.end(), std::byte{0});
    return;
  }
  const DType part = contract::component(dtype);
  const std::size_t size = contract::size_bytes(part);
  const std::size_t count = numbers_of(high.size(), wide.size(), dtype);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = std::bit_cast<double>(element_bits(wide, i, DType::float64));
    const std::uint64_t rounded = to_bits(value, part);
    const double left = value - from_bits(rounded, part);
    put(high, i, rounded, size);
    put(low, i, to_bits(std::isfinite(left) ? left : 0.0, part), size);
  }
}

}  // namespace assay::judge
