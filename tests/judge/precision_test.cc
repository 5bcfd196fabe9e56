// The errors of an answer and of a reference, against a plain computation in long double.
#include "engine/judge/precision.h"

#include <cmath>
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

namespace {

// A tensor of its own.
struct Held {
  Held(const std::vector<double>& values, std::vector<std::int64_t> shape)
      : bytes(bytes_of(values, DType::float32)),
        view{.name = "x", .dtype = DType::float32, .shape = std::move(shape), .bytes = bytes} {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  std::vector<std::byte> bytes;
  TensorView view;
};

std::vector<double> mapped(std::vector<double> values, double (*map)(double)) {
  for (double& value : values) value = map(value);
  return values;
}

double far_off(double value) { return value + 100; }

}  // namespace

TEST_CASE("long sums may lose more, in plain arithmetic too") {
  const Held around_zero(noise(1024, 1), {16, 64});
  const Held sums(noise(16, 4), {16});
  CHECK(most_ratio({&around_zero.view, 1}, sums.view) == Approx(kMostRatio).epsilon(0.05));
  const Held long_row(noise(1 << 18, 2), {1 << 18});
  const Held one({3.0}, {1});
  CHECK(most_ratio({&long_row.view, 1}, one.view) == Approx(2048).epsilon(0.05));
}

TEST_CASE("inputs far from zero may lose more where their distance is not in the output any more") {
  const auto values = mapped(noise(1024, 3), far_off);
  const Held input(values, {16, 64});
  const auto most = [&](const Held& output) { return most_ratio({&input.view, 1}, output.view); };
  // Less their mean, or their variances: a difference of squares.
  CHECK(most(Held(noise(1024, 3), {16, 64})) > 1000 * kMostRatio);
  CHECK(most(Held(mapped(noise(16, 5), [](double v) { return 1 + v / 10; }), {16})) >
        1000 * kMostRatio);
  // Their squares and their reciprocals, as far from zero as they are, and their sums.
  CHECK(most(Held(mapped(values, [](double v) { return v * v; }), {16, 64})) < 5 * kMostRatio);
  CHECK(most(Held(mapped(values, [](double v) { return 1 / v; }), {16, 64})) < 5 * kMostRatio);
  CHECK(most(Held(mapped(noise(16, 6), [](double v) { return 6400 + 8 * v; }), {16})) ==
        Approx(kMostRatio));
  // What is all one number has no deviation to be compared with.
  const Held ones(std::vector<double>(1024, 1.0), {16, 64});
  CHECK(most_ratio({&ones.view, 1}, ones.view) == kMostRatio);
}
