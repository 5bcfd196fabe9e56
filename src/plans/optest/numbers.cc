#include "plans/optest/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/judge/scalar_conversion.h"

namespace assay::optest {

using contract::DType;

namespace {

std::uint64_t bits_at(const std::byte* from, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, size);  // little-endian, as every machine this runs on
  return bits;
}

std::int64_t integer_of(std::uint64_t bits, DType dtype) {
  if (dtype == DType::boolean) return bits != 0 ? 1 : 0;
  const std::size_t size = contract::size_bytes(dtype);
  if (size == 8 || !contract::is_signed_integer(dtype)) return static_cast<std::int64_t>(bits);
  const auto shift = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

std::uint64_t cut_to_integer(double value, DType dtype) {
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  const auto low = static_cast<double>(contract::lowest_integer(dtype));
  const auto high = static_cast<double>(contract::highest_integer(dtype));
  if (whole <= low) return static_cast<std::uint64_t>(contract::lowest_integer(dtype));
  if (whole >= high) return contract::highest_integer(dtype);
  return whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                   : static_cast<std::uint64_t>(whole);
}

}  // namespace

Numbers zeros(Shape shape, bool is_integral) {
  Numbers numbers{.shape = std::move(shape), .is_integral = is_integral};
  if (is_integral)
    numbers.integers.resize(numbers.size());
  else
    numbers.reals.resize(numbers.size());
  return numbers;
}

Numbers decode(std::span<const std::byte> bytes, DType dtype, const Shape& shape) {
  Numbers numbers = zeros(shape, !contract::is_floating(dtype));
  const std::size_t size = contract::size_bytes(dtype);
  numbers.is_unsigned = dtype == DType::uint64;
  numbers.is_double = dtype == DType::float64;
  const std::uint64_t count = numbers.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = bits_at(bytes.data() + i * size, size);
    if (numbers.is_integral)
      numbers.integers[i] = integer_of(bits, dtype);
    else
      numbers.reals[i] = judge::from_bits(bits, dtype);
  }
  return numbers;
}

void store_real(double value, DType dtype, std::byte* to) {
  std::uint64_t bits = 0;
  if (contract::is_floating(dtype))
    bits = judge::to_bits(value, dtype);
  else if (dtype == DType::boolean)
    bits = value != 0 ? 1 : 0;
  else
    bits = cut_to_integer(value, dtype);
  std::memcpy(to, &bits, contract::size_bytes(dtype));
}

std::vector<std::byte> encode(const Numbers& numbers, DType dtype) {
  const std::size_t size = contract::size_bytes(dtype);
  std::vector<std::byte> bytes(numbers.size() * size);
  const bool keep_bits = numbers.is_integral && contract::is_integer(dtype);
  for (std::uint64_t i = 0; i < numbers.size(); ++i) {
    std::byte* to = bytes.data() + i * size;
    if (keep_bits)
      std::memcpy(to, &numbers.integers[i], size);
    else
      store_real(numbers.real(i), dtype, to);
  }
  return bytes;
}

}  // namespace assay::optest
