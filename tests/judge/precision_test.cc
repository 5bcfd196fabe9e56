// The errors of an answer and of a reference, against a plain computation in long double.
#include "engine/judge/precision.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

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
  CHECK(bits_of(alone, {}) == Bits::as_many);
  Precision all{};
  for (int trial = 0; trial < 40; ++trial) all = together(all, alone);
  CHECK(all.elements == 40);
  CHECK(all.ratio == Approx(alone.ratio));
  CHECK(bits_of(all, {}) == Bits::fewer);
  CHECK(bits_of(all, {.cancelling = 2 * alone.ratio}) == Bits::unclear);
  CHECK(bits_of(all, {.plain = 2 * alone.ratio, .cancelling = 2 * alone.ratio}) == Bits::as_many);
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
  CHECK(ratio_limits({&around_zero.view, 1}, sums.view).plain == kMostRatio);
  const Held long_row(noise(1 << 18, 2), {1 << 18});
  const Held one({3.0}, {1});
  CHECK(ratio_limits({&long_row.view, 1}, one.view).plain == Approx(2048));
  // Of each number alone an output as long may be made: half of its digits are still seen.
  const Held long_output(noise(1 << 21, 3), {1 << 21});
  CHECK(ratio_limits({&long_output.view, 1}, long_output.view).plain < 4000);
}

TEST_CASE("inputs far from zero may lose more where their distance is not in the output any more") {
  const auto values = mapped(noise(1024, 3), far_off);
  for (const double unit : {1.0, 1e-3, 1e4}) {
    INFO("unit " << unit);
    const auto in_units = [unit](std::vector<double> of, double power) {
      for (double& value : of) value *= std::pow(unit, power);
      return of;
    };
    const Held input(in_units(values, 1), {16, 64});
    const auto most = [&](std::vector<double> output, std::vector<std::int64_t> shape,
                          double power) {
      const Held held(in_units(std::move(output), power), std::move(shape));
      const RatioLimits limits = ratio_limits({&input.view, 1}, held.view);
      CHECK(limits.plain == kMostRatio);
      return limits.cancelling;
    };
    // Less their mean, or their variances: a difference of squares.
    CHECK(most(noise(1024, 3), {16, 64}, 1) > 300 * kMostRatio);
    CHECK(most(mapped(noise(16, 5), [](double v) { return 1 + v / 10; }), {16}, 2) >
          300 * kMostRatio);
    // Their squares and their reciprocals, as far from zero as they are, and their sums.
    CHECK(most(mapped(values, [](double v) { return v * v; }), {16, 64}, 2) < 5 * kMostRatio);
    CHECK(most(mapped(values, [](double v) { return 1 / v; }), {16, 64}, -1) < 5 * kMostRatio);
    CHECK(most(mapped(noise(16, 6), [](double v) { return 6400 + 8 * v; }), {16}, 1) <
          5 * kMostRatio);
  }
  // What is all one number has no deviation to be compared with.
  const Held ones(std::vector<double>(1024, 1.0), {16, 64});
  CHECK(ratio_limits({&ones.view, 1}, ones.view).cancelling == kMostRatio);
}

namespace {

constexpr std::size_t kRows = 64;
constexpr std::size_t kRow = 1024;

// A row's variance, summed up one after the other in this type.
template <typename Float>
double two_passes(const double* row) {
  Float mean = 0;
  for (std::size_t i = 0; i < kRow; ++i) mean += static_cast<Float>(row[i]);
  mean /= kRow;
  Float squares = 0;
  for (std::size_t i = 0; i < kRow; ++i) {
    const Float off = static_cast<Float>(row[i]) - mean;
    squares += off * off;
  }
  return squares / kRow;
}

template <typename Float>
double one_pass(const double* row) {
  Float sum = 0;
  Float squares = 0;
  for (std::size_t i = 0; i < kRow; ++i) {
    const auto value = static_cast<Float>(row[i]);
    sum += value;
    squares += value * value;
  }
  const Float mean = sum / kRow;
  return squares / kRow - mean * mean;
}

std::vector<double> of_rows(const std::vector<double>& values, double (*of)(const double*)) {
  std::vector<double> out;
  for (std::size_t row = 0; row < kRows; ++row) out.push_back(of(values.data() + row * kRow));
  return out;
}

std::vector<double> in_half(std::vector<double> values) {
  for (double& value : values) value = rounded(value, DType::float16);
  return values;
}

}  // namespace

TEST_CASE("a variance by one pass is not taken for fewer bits, wherever its inputs lie") {
  for (const auto& [mean, deviation] : {std::pair(3.0, 0.2), std::pair(100.0, 20.0),
                                        std::pair(300.0, 20.0), std::pair(1000.0, 50.0)}) {
    INFO(mean << " and " << deviation);
    auto values = noise(kRows * kRow, 7, deviation);
    for (double& value : values) value = rounded(value + mean, DType::float32);
    const Held input(values, {kRows, kRow});
    const auto exact = of_rows(values, two_passes<double>);
    const Held output(exact, {kRows});
    const auto told = precision(exact, of_rows(values, two_passes<float>),
                                of_rows(values, one_pass<float>), DType::float32);
    CHECK(bits_of(told, ratio_limits({&input.view, 1}, output.view)) != Bits::fewer);
  }
}

TEST_CASE("products in half precision are never clear of it, wherever their factors lie") {
  for (const auto& [first, second] :
       {std::pair(0.0, 3.5), std::pair(3.5, 3.5), std::pair(0.0, 0.0), std::pair(0.0, 100.0)}) {
    INFO("around " << first << " and " << second);
    auto a = noise(1 << 14, 8);
    auto b = noise(1 << 14, 9, 0.25);
    for (double& value : a) value = rounded(value + first, DType::float32);
    for (double& value : b) value = rounded(value + second, DType::float32);
    const auto times = [](std::vector<double> of, const std::vector<double>& by) {
      for (std::size_t i = 0; i < of.size(); ++i) of[i] *= by[i];
      return of;
    };
    const auto exact = times(a, b);
    const Held held_a(a, {1 << 14});
    const Held held_b(b, {1 << 14});
    const Held output(exact, {1 << 14});
    const std::array inputs{held_a.view, held_b.view};
    const RatioLimits limits = ratio_limits(inputs, output.view);
    const auto half = precision(exact, exact, times(in_half(a), in_half(b)), DType::float32);
    CHECK(bits_of(half, limits) != Bits::as_many);
    if (first == second) CHECK(bits_of(half, limits) == Bits::fewer);
    CHECK(bits_of(precision(exact, exact, exact, DType::float32), limits) == Bits::as_many);
  }
}
