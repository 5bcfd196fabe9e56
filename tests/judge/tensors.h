// Tensors for the judge's tests: doubles in, bytes of any dtype out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/judge/philox.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge::test {

// Components of complex types, else elements.
inline std::vector<std::byte> bytes_of(const std::vector<double>& values, contract::DType dtype) {
  const contract::DType part = contract::component(dtype);
  const std::size_t size = contract::size_bytes(part);
  std::vector<std::byte> bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits =
        contract::is_floating(part)
            ? to_bits(values[i], part)
            : static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i]));
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

// Uniform in [-scale, scale), whole numbers for a scale of at least 2.
inline std::vector<double> noise(std::size_t count, std::uint64_t seed, double scale = 1) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = (static_cast<double>(philox(seed, i, 3)[0]) * 0x1p-31 - 1) * scale;
  }
  return values;
}

}  // namespace assay::judge::test
