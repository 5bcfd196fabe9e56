// The errors of an answer and of a reference, against a plain computation in long double.
#include "engine/judge/precision.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/judge/scalar_conversion.h"
#include "tests/catch.h"
#include "tests/judge/tensors.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;
using test::bytes_of;
using test::noise;

double rounded(double value, DType dtype) { return from_bits(to_bits(value, dtype), dtype); }

// The exact answer as the two parts that come over the wire.
struct Parts {
  std::vector<std::byte> high{};
  std::vector<std::byte> low{};

  Parts(const std::vector<double>& exact, DType dtype) {
    std::vector<double> rest = exact;
    for (double& value : rest) value -= rounded(value, dtype);
    high = bytes_of(exact, dtype);
    low = bytes_of(rest, dtype);
  }
};

Precision precision(const std::vector<double>& exact, const std::vector<double>& reference,
                    const std::vector<double>& got, DType dtype) {
  const Parts parts(exact, dtype);
  const auto told = precision_of({.high = parts.high, .low = parts.low}, bytes_of(reference, dtype),
                                 bytes_of(got, dtype), dtype);
  REQUIRE(told.has_value());
  return *told;
}

std::vector<double> plus(std::vector<double> values, const std::vector<double>& more) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += more[i];
  return values;
}

double mean_error(const std::vector<double>& got, const std::vector<double>& exact, DType dtype) {
  long double squares = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double error = static_cast<long double>(rounded(got[i], dtype)) - exact[i];
    squares += error * error;
  }
  return static_cast<double>(std::sqrt(squares / static_cast<long double>(got.size())));
}

}  // namespace

TEST_CASE("both errors are those of a plain computation, in every type narrower than double") {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO(contract::name(dtype) << " seed " << seed);
      const auto exact = noise(300, seed, 2);
      const auto reference = plus(exact, noise(300, seed + 100, 1e-3));
      const auto got = plus(exact, noise(300, seed + 200, 1e-2));
      const Precision told = precision(exact, reference, got, dtype);
      CHECK(told.elements == 300);
      // What two parts of the type cannot hold is far below what either did wrong.
      CHECK(told.error == Approx(mean_error(got, exact, dtype)).epsilon(1e-3));
      CHECK(told.reference_error == Approx(mean_error(reference, exact, dtype)).epsilon(1e-3));
      CHECK(told.rounding_error == Approx(mean_error(exact, exact, dtype)).epsilon(1e-2));
      CHECK(told.ratio ==
            Approx(told.error / std::max(told.reference_error, told.rounding_error)).epsilon(0.2));
      CHECK(told.max_error >= told.error);
    }
  }
}

TEST_CASE("an answer rounded to fewer bits is told from one that was only summed otherwise") {
  const auto exact = noise(1000, 5);
  auto fewer = exact;
  for (double& value : fewer) value = rounded(value, DType::float16);
  CHECK(precision(exact, exact, fewer, DType::float32).ratio > kMostRatio);
  CHECK(precision(exact, exact, exact, DType::float32).ratio == Approx(1).epsilon(0.2));
  const auto otherwise = plus(exact, noise(1000, 6, 10 * 0x1p-24));
  CHECK(precision(exact, exact, otherwise, DType::float32).ratio < kMostRatio / 2);
}

TEST_CASE(
    "where the reference is exact by its inputs, a rounding more is no arithmetic in fewer bits") {
  const std::vector<double> whole{1, 2, 3};
  CHECK(precision(whole, whole, whole, DType::float32).error == 0);
  CHECK(precision(whole, whole, whole, DType::float32).ratio == 0);
  const std::vector<double> next{1 + 0x1p-23, 2, 3 - 0x1p-22};
  CHECK(precision(whole, whole, next, DType::float32).ratio < 10);
  CHECK(precision(whole, whole, {1, 2, 3 + 0x1p-10}, DType::float32).ratio > kMostRatio);
  CHECK(precision(whole, whole, {1, 2, 3.5}, DType::float32).ratio > 1e6);
  // Nothing is expected that has a size.
  const std::vector<double> zeros{0, 0};
  CHECK(precision(zeros, zeros, {0, 1}, DType::float32).ratio > 1e30);
}

TEST_CASE("what is not finite is nobody's error") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> exact{1, infinity, 3, std::nan("")};
  const Precision told = precision(exact, exact, {1, 5, infinity, 4}, DType::float32);
  CHECK(told.elements == 1);
  CHECK(told.error == 0);
}

TEST_CASE("types that have no wider one say nothing") {
  for (const DType dtype : {DType::float64, DType::int32, DType::boolean, DType::complex64}) {
    INFO(contract::name(dtype));
    const std::vector<std::byte> bytes(contract::size_bytes(dtype) * 4);
    CHECK_FALSE(precision_of({.high = bytes, .low = bytes}, bytes, bytes, dtype));
  }
}

TEST_CASE("few elements condemn nobody, and those of several trials are judged together") {
  const std::vector<double> one{1.5};
  const Precision alone = precision(one, one, {1.5 + 0x1p-10}, DType::float32);
  CHECK(alone.ratio > kMostRatio);
  CHECK_FALSE(is_of_fewer_bits(alone, kMostRatio));
  Precision all{};
  for (int trial = 0; trial < 40; ++trial) all = together(all, alone);
  CHECK(all.elements == 40);
  CHECK(all.ratio == Approx(alone.ratio));
  CHECK(is_of_fewer_bits(all, kMostRatio));
  CHECK_FALSE(is_of_fewer_bits(all, 2 * alone.ratio));
  // Trials in which the reference was right by luck do not count alone.
  const Precision unlucky = precision(one, {1.5 + 0x1p-12}, {1.5 + 0x1p-12}, DType::float32);
  CHECK(together(unlucky, precision(one, one, {1.5 + 0x1p-12}, DType::float32)).ratio < 2);
}

TEST_CASE("long sums and inputs far from zero may lose more, in plain arithmetic too") {
  const auto input = [](const std::vector<double>& values, const std::vector<std::int64_t>& shape,
                        std::vector<std::byte>& bytes) {
    bytes.resize(4 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<float>(values[i]);
      std::memcpy(bytes.data() + 4 * i, &value, sizeof value);
    }
    return TensorView{.name = "x", .dtype = DType::float32, .shape = shape, .bytes = bytes};
  };
  std::vector<std::byte> held;
  const std::vector<std::int64_t> shape{16, 64};
  const TensorView around_zero = input(noise(1024, 1), shape, held);
  CHECK(most_ratio({&around_zero, 1}, 16) == Approx(kMostRatio).epsilon(0.05));
  const std::vector<std::int64_t> row{1 << 18};
  std::vector<std::byte> many;
  const TensorView long_row = input(noise(1 << 18, 2), row, many);
  CHECK(most_ratio({&long_row, 1}, 1) == Approx(2048).epsilon(0.05));
  std::vector<std::byte> far;
  auto shifted = noise(1024, 3);
  for (double& value : shifted) value += 100;
  const TensorView far_away = input(shifted, shape, far);
  CHECK(most_ratio({&far_away, 1}, 1024) > 1000 * kMostRatio);
  // What is all one number has no deviation to be compared with.
  std::vector<std::byte> same;
  const TensorView ones = input(std::vector<double>(1024, 1.0), shape, same);
  CHECK(most_ratio({&ones, 1}, 1024) == kMostRatio);
}
