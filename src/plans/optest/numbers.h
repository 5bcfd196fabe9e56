// A tensor as numbers, for computing what an operator should give: integers (bool too) exactly and
// modulo 2^64, all floats as double. Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/contract/dtype.h"
#include "plans/optest/plan.h"

namespace assay::optest {

// The plan asks of a builtin what it cannot give: shapes that do not fit, a missing parameter.
struct ReferenceFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Numbers {
  Shape shape{};
  bool is_integral = false;
  bool is_unsigned = false;  // integers above int64's range are kept as their two's complement
  bool is_double = false;    // float64: sums need more than a double
  std::vector<double> reals{};
  std::vector<std::int64_t> integers{};

  [[nodiscard]] std::uint64_t size() const { return shape.elements(); }
  [[nodiscard]] double real(std::uint64_t i) const {
    if (!is_integral) return reals[i];
    return is_unsigned ? static_cast<double>(static_cast<std::uint64_t>(integers[i]))
                       : static_cast<double>(integers[i]);
  }
};

[[nodiscard]] Numbers zeros(Shape shape, bool is_integral);

// REQUIRES bytes.size() == elements × dtype size.
[[nodiscard]] Numbers decode(std::span<const std::byte> bytes, contract::DType dtype,
                             const Shape& shape);

// Rounds to floats to the nearest, cuts reals to integers toward zero within the type's range, and
// keeps integers' low bits, as C's types do. bool: not zero.
[[nodiscard]] std::vector<std::byte> encode(const Numbers& numbers, contract::DType dtype);

// One element's bits, little-endian, at `to`.
void store_real(double value, contract::DType dtype, std::byte* to);

}  // namespace assay::optest
