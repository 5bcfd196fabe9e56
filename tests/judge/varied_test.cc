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
