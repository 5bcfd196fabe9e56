// What is said of a whole tensor from some thousand of its elements, against all of them.
#include "engine/judge/spread.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/judge/tensors.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;

constexpr std::size_t kRows = 4096;
constexpr std::size_t kColumns = 256;

// One column is unlike all others: `first` in the first, noise around `mean` elsewhere.
std::vector<std::byte> but_for_one_column(double first, double mean) {
  std::vector<double> values = test::noise(kRows * kColumns, 7);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % kColumns == 0 ? first * values[i] : mean + values[i];
  }
  return test::bytes_of(values, DType::float32);
}

TEST_CASE("one column of as many rows as are looked at does not stand for the tensor") {
  const auto bytes = but_for_one_column(1e-3, 100);
  // Mean 99.6, and its variance is the one column's: 100^2 / 256, and a third within the others.
  const double variance = 1e4 * (1.0 / 256) * (255.0 / 256) + 1.0 / 3;
  const double spread = spread_of({.dtype = DType::float32, .bytes = bytes});
  CHECK(spread > 0.5 * (1 + 99.6 * 99.6 / variance));
  CHECK(spread < 3 * (1 + 99.6 * 99.6 / variance));
  CHECK(middle_size({.dtype = DType::float32, .bytes = bytes}) > 99);
}

TEST_CASE("the middle of a tensor is that of what is not zero, however few elements there are") {
  const auto bytes = test::bytes_of({0, -3, 0, 5, 4}, DType::float32);
  CHECK(middle_size({.dtype = DType::float32, .bytes = bytes}) == 4);
  const auto nothing = test::bytes_of({0, 0}, DType::float32);
  CHECK(middle_size({.dtype = DType::float32, .bytes = nothing}) == 0);
}

}  // namespace
