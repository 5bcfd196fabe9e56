// Other contents that mean as much as those they are made of.
#include "engine/judge/varied.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/judge/elements.h"
#include "tests/catch.h"
#include "tests/judge/tensors.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;

std::vector<double> varied(const std::vector<double>& values, DType dtype, std::uint64_t seed = 1) {
  auto bytes = test::bytes_of(values, dtype);
  vary(bytes, dtype, seed);
  std::vector<double> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.push_back(element_value(bytes, i, dtype).real());
  }
  return out;
}

}  // namespace

TEST_CASE("numbers become others of the same sign, order and range") {
  std::vector<double> values = test::noise(200, 3, 4.0);
  std::sort(values.begin(), values.end());
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    const auto out = varied(values, dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(std::signbit(out[i]) == std::signbit(values[i]));
      CHECK(std::fabs(out[i]) <= 0.91 * std::fabs(values[i]));
      if (i > 0) CHECK(out[i] >= out[i - 1]);
    }
  }
  CHECK(varied(values, DType::float32, 1) == varied(values, DType::float32, 1));
  CHECK(varied(values, DType::float32, 1) != varied(values, DType::float32, 2));
}

TEST_CASE("what is no number to compute with stays") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto out = varied({0, -infinity, 2, infinity, std::nan(""), 2, -2}, DType::float32);
  CHECK(out[0] == 0);
  CHECK(out[1] == -infinity);
  CHECK(out[3] == infinity);
  CHECK(std::isnan(out[4]));
  CHECK((out[2] == out[5] && out[2] == -out[6] && out[2] > 1 && out[2] < 2));
  CHECK(varied({3, 0, 7}, DType::int64) == std::vector<double>{3, 0, 7});
  CHECK(varied({1, 0, 1}, DType::boolean) == std::vector<double>{1, 0, 1});
  CHECK(varied({0, 0}, DType::float16) == std::vector<double>{0, 0});
  CHECK(varied({}, DType::float32).empty());
}

TEST_CASE("one number that is zero becomes another, and a number that is one") {
  for (const double value : {0.0, 1.0}) {
    auto number = test::bytes_of({value}, DType::float16);
    vary_masks_too(number, DType::float16, 5, 1);
    const double now = element_value(number, 0, DType::float16).real();
    CHECK((now != value && now >= 0.25 && now <= 1));
  }
  auto truth = test::bytes_of({0}, DType::boolean);
  vary_masks_too(truth, DType::boolean, 5, 1);
  CHECK(truth == test::bytes_of({0}, DType::boolean));
}

TEST_CASE("a mask stays one, and leaves something of every row") {
  constexpr std::size_t kRow = 20;
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::boolean}) {
    for (const double value : {0.0, 1.0}) {
      auto mask = test::bytes_of(std::vector<double>(10 * kRow, value), dtype);
      vary_masks_too(mask, dtype, 9, kRow);
      std::size_t changed = 0;
      for (std::size_t i = 0; i < 10 * kRow; ++i) {
        const double now = element_value(mask, i, dtype).real();
        CHECK((now == 0 || now == 1));
        changed += now == value ? 0 : 1;
        if (i % kRow == 0 || i % kRow == kRow - 1) CHECK(now == value);
      }
      CHECK((changed > 20 && changed < 80));
    }
    auto lower = test::bytes_of({1, 0, 0, 1, 1, 0, 1, 1, 1}, dtype);
    vary_masks_too(lower, dtype, 3, 3);
    CHECK(element_value(lower, 1, dtype).real() == 0);
    CHECK(element_value(lower, 2, dtype).real() == 0);
  }
  auto other = test::bytes_of({1, 0, 3}, DType::float32);
  vary_masks_too(other, DType::float32, 3, 3);
  CHECK(element_value(other, 2, DType::float32).real() < 3);
  auto lengths = test::bytes_of({1, 1, 1}, DType::int64);
  vary_masks_too(lengths, DType::int64, 3, 3);
  CHECK(lengths == test::bytes_of({1, 1, 1}, DType::int64));
}

TEST_CASE("what names one of each row still does, and signs stay signs") {
  std::vector<double> unit(36);
  for (std::size_t i = 0; i < 6; ++i) unit[i * 6 + i] = 1;
  for (const DType dtype : {DType::float16, DType::boolean}) {
    auto moved = test::bytes_of(unit, dtype);
    vary_masks_too(moved, dtype, 4, 6);
    CHECK(moved != test::bytes_of(unit, dtype));
    for (std::size_t row = 0; row < 6; ++row) {
      double sum = 0;
      double down = 0;
      for (std::size_t i = 0; i < 6; ++i) {
        sum += element_value(moved, row * 6 + i, dtype).real();
        down += element_value(moved, i * 6 + row, dtype).real();
      }
      CHECK((sum == 1 && down == 1));
    }
  }
  const std::vector<double> signs{1, -1, 0, 1, -1, 1, 1, -1, 1, 1, 0, -1, -1, 1, 1, -1};
  auto others = test::bytes_of(signs, DType::float32);
  vary_masks_too(others, DType::float32, 4, signs.size());
  CHECK(others != test::bytes_of(signs, DType::float32));
  for (std::size_t i = 0; i < signs.size(); ++i) {
    CHECK(std::fabs(element_value(others, i, DType::float32).real()) == std::fabs(signs[i]));
  }
}

TEST_CASE("rows that tell a length still do, and each is another") {
  const std::vector<double> lengths{1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0};
  auto others = test::bytes_of(lengths, DType::boolean);
  vary_masks_too(others, DType::boolean, 5, 5);
  for (std::size_t row = 0; row < 3; ++row) {
    std::size_t length = 0;
    while (length < 5 && element_value(others, row * 5 + length, DType::boolean).real() == 1)
      ++length;
    for (std::size_t i = length; i < 5; ++i) {
      CHECK(element_value(others, row * 5 + i, DType::boolean).real() == 0);
    }
    const std::size_t before = row == 0 ? 3 : row == 1 ? 5 : 1;
    CHECK(length >= 1);
    CHECK((before == 1 ? length == 1 : length < before));
  }
}

TEST_CASE("a square of zeros and ones that is its own transpose stays that") {
  constexpr std::size_t kRow = 24;
  std::vector<double> square(kRow * kRow);
  for (std::size_t i = 0; i < kRow; ++i) {
    for (std::size_t j = 0; j < kRow; ++j) square[i * kRow + j] = (i * j + i + j) % 3 != 0 ? 1 : 0;
  }
  auto others = test::bytes_of(square, DType::float32);
  vary_masks_too(others, DType::float32, 6, kRow);
  CHECK(others != test::bytes_of(square, DType::float32));
  const auto at = [&](std::size_t i) { return element_value(others, i, DType::float32).real(); };
  for (std::size_t i = 0; i < kRow; ++i) {
    for (std::size_t j = 0; j < kRow; ++j) CHECK(at(i * kRow + j) == at(j * kRow + i));
  }
}

TEST_CASE("rows that sum to one still do") {
  const std::vector<double> shares{0.1, 0.2, 0.7, 0.25, 0.25, 0.5};
  auto others = test::bytes_of(shares, DType::float32);
  vary_masks_too(others, DType::float32, 7, 3);
  CHECK(others != test::bytes_of(shares, DType::float32));
  for (std::size_t row = 0; row < 2; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      sum += element_value(others, row * 3 + i, DType::float32).real();
    }
    CHECK(sum == Approx(1).epsilon(1e-5));
  }
}

TEST_CASE("of a small mask one element changes at least") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (const double value : {0.0, 1.0, -1.0}) {
      auto mask = test::bytes_of({value, value, value}, DType::float32);
      vary_masks_too(mask, DType::float32, seed, 3);
      CHECK(mask != test::bytes_of({value, value, value}, DType::float32));
    }
  }
}
