// Elements as doubles and back: exactly wider, and in two parts that hold what a double does.
#include "engine/judge/in_double.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "engine/contract/in_double.h"
#include "engine/judge/scalar_conversion.h"
#include "tests/catch.h"

using namespace assay::judge;
using assay::contract::DType;

namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(const std::vector<double>& values, DType dtype) {
  const std::size_t size = assay::contract::size_bytes(dtype);
  Bytes bytes(values.size() * size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t bits = to_bits(values[i], dtype);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

std::vector<double> doubles(const Bytes& bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("elements widen to the numbers that they are") {
  const std::vector<double> values{0.0, -0.0, 1.0, -2.5, 0x1p-14, 0x1p-24, 65504.0, INFINITY};
  for (const DType dtype : {DType::float16, DType::float32}) {
    Bytes wide(values.size() * 8);
    widen(bytes_of(values, dtype), dtype, wide);
    const auto read = doubles(wide);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(read[i] == values[i]);
      CHECK(std::signbit(read[i]) == std::signbit(values[i]));
    }
  }
  Bytes wide(16);
  widen(bytes_of({1.5, NAN}, DType::float32), DType::complex64, wide);
  CHECK(doubles(wide)[0] == 1.5);
  CHECK(std::isnan(doubles(wide)[1]));
}

TEST_CASE("a double is two parts of a narrower type") {
  const double third = 1.0 / 3;
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    const std::size_t size = assay::contract::size_bytes(dtype);
    Bytes high(3 * size);
    Bytes low(3 * size);
    split(bytes_of({third, 1e300, NAN}, DType::float64), dtype, high, low);
    Bytes wide_high(24);
    Bytes wide_low(24);
    widen(high, dtype, wide_high);
    widen(low, dtype, wide_low);
    const double both = doubles(wide_high)[0] + doubles(wide_low)[0];
    CHECK(std::fabs(both - third) <= third * std::pow(2.0, dtype == DType::float32 ? -47 : -15));
    CHECK(std::isinf(doubles(wide_high)[1]));
    CHECK(doubles(wide_low)[1] == 0);
    CHECK(std::isnan(doubles(wide_high)[2]));
  }
}

TEST_CASE("what has no wider type is itself, and sizes that disagree are refused") {
  const Bytes integers{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Bytes same(4);
  widen(integers, DType::int32, same);
  CHECK(same == integers);
  Bytes high(4);
  Bytes low(4, std::byte{9});
  split(integers, DType::int32, high, low);
  CHECK(high == integers);
  CHECK(low == Bytes(4));
  Bytes wrong(12);
  CHECK_THROWS_AS(widen(integers, DType::float32, wrong), std::invalid_argument);
  CHECK_THROWS_AS(widen(integers, DType::int32, wrong), std::invalid_argument);
  CHECK_THROWS_AS(split(wrong, DType::float32, high, low), std::invalid_argument);
}
