// Rounding to the narrow types, against a search over all their values in long double.
#include "engine/judge/scalar_conversion.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "engine/judge/philox.h"
#include "tests/catch.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;

// The value of the bits from the definition of the format: sign, exponent, fraction.
double defined_value(std::uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t exponent = (bits >> mantissa_bits) & ((1U << exponent_bits) - 1);
  const std::uint32_t fraction = bits & ((1U << mantissa_bits) - 1);
  const double sign = (bits >> (exponent_bits + mantissa_bits)) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa_bits);
  return sign * std::ldexp((1U << mantissa_bits) + fraction,
                           static_cast<int>(exponent) - bias - mantissa_bits);
}

struct Narrow {
  DType dtype;
  int exponent_bits;
  int mantissa_bits;
  std::uint32_t highest;  // largest finite value
};
constexpr Narrow kNarrow[] = {{DType::float16, 5, 10, 0x7BFF},
                              {DType::bfloat16, 8, 7, 0x7F7F},
                              {DType::float8_e4m3fn, 4, 3, 0x7E},
                              {DType::float8_e5m2, 5, 2, 0x7B}};

// The nearest value by search; `above` is where the next step beyond the highest would be.
std::uint32_t nearest_by_search(long double x, const std::vector<double>& finite, double above) {
  const long double magnitude = std::fabs(x);
  const auto found =
      std::lower_bound(finite.begin(), finite.end(), magnitude,
                       [](double a, long double b) { return static_cast<long double>(a) < b; });
  const auto high = static_cast<std::size_t>(found - finite.begin());
  if (high == 0) return 0;
  const long double upper = high == finite.size() ? above : finite[high];
  const long double lower = finite[high - 1];
  if (magnitude - lower < upper - magnitude) return static_cast<std::uint32_t>(high - 1);
  if (magnitude - lower > upper - magnitude) return static_cast<std::uint32_t>(high);
  return static_cast<std::uint32_t>(high % 2 == 0 ? high : high - 1);
}

}  // namespace

TEST_CASE("every value of a narrow type is what its format defines, and converts to itself") {
  for (const Narrow& format : kNarrow) {
    const std::uint32_t count = 1U << (1 + format.exponent_bits + format.mantissa_bits);
    for (std::uint32_t bits = 0; bits < count; ++bits) {
      const double value = from_bits(bits, format.dtype);
      const std::uint32_t magnitude = bits & (count / 2 - 1);
      if (magnitude <= format.highest) {
        REQUIRE(value == defined_value(bits, format.exponent_bits, format.mantissa_bits));
        REQUIRE(std::signbit(value) == (bits >= count / 2));
        REQUIRE(to_bits(value, format.dtype) == bits);
      } else if (format.dtype != DType::float8_e4m3fn && magnitude == format.highest + 1) {
        REQUIRE(std::isinf(value));
        REQUIRE(to_bits(value, format.dtype) == bits);
      } else {
        REQUIRE(std::isnan(value));
        REQUIRE(std::isnan(from_bits(to_bits(value, format.dtype), format.dtype)));
      }
    }
  }
}

TEST_CASE(
    "doubles round to the nearest value, ties to even, beyond the highest to infinity or NaN") {
  for (const Narrow& format : kNarrow) {
    INFO(contract::name(format.dtype));
    std::vector<double> finite;
    for (std::uint32_t bits = 0; bits <= format.highest; ++bits)
      finite.push_back(from_bits(bits, format.dtype));
    const double step = finite.back() - finite[finite.size() - 2];
    const double above = finite.back() + step;
    auto check = [&](double x) {
      const std::uint32_t expected = nearest_by_search(x, finite, above);
      const std::uint64_t sign =
          std::signbit(x) ? 1ULL << (format.exponent_bits + format.mantissa_bits) : 0;
      REQUIRE(to_bits(x, format.dtype) == (sign | expected));
    };
    // Midpoints, and their neighbours in double.
    for (std::size_t i = 0; i + 1 < finite.size(); i += 1 + finite.size() / 3000) {
      const double middle = finite[i] + (finite[i + 1] - finite[i]) / 2;
      for (const double x :
           {middle, std::nextafter(middle, 0), std::nextafter(middle, 1e300), finite[i]}) {
        check(x);
        check(-x);
      }
    }
    for (const double x : {finite.back() + step / 2, std::nextafter(finite.back() + step / 2, 0),
                           std::nextafter(finite.back() + step / 2, 1e300), above}) {
      check(x);
      check(-x);
    }
    for (std::uint64_t i = 0; i < 20000; ++i) {
      const PhiloxBlock block = philox(8, i, 0);
      const double mantissa = 1 + static_cast<double>(block[0]) * 0x1p-32;
      check(std::ldexp(mantissa, static_cast<int>(block[1] % 40) - 30) *
            ((block[2] & 1U) != 0 ? -1 : 1));
    }
    for (const double tiny : {0.0, -0.0, std::numeric_limits<double>::denorm_min(), 1e-310, 1e-300})
      check(tiny);
  }
}

TEST_CASE("values too large for a type become what torch makes of them") {
  CHECK(to_bits(1e300, DType::float16) == 0x7C00);
  CHECK(to_bits(-1e300, DType::bfloat16) == 0xFF80);
  CHECK(to_bits(65519.0, DType::float16) == 0x7BFF);
  CHECK(to_bits(65520.0, DType::float16) == 0x7C00);
  CHECK(to_bits(464.0, DType::float8_e4m3fn) == 0x7E);
  CHECK(to_bits(464.1, DType::float8_e4m3fn) == 0x7F);
  CHECK(to_bits(-INFINITY, DType::float8_e4m3fn) == 0xFF);
  CHECK(to_bits(61439.0, DType::float8_e5m2) == 0x7B);
  CHECK(to_bits(61440.0, DType::float8_e5m2) == 0x7C);
  CHECK(to_bits(1e300, DType::float32) == 0x7F800000);
  CHECK(std::isnan(from_bits(to_bits(NAN, DType::float64), DType::float64)));
  CHECK(to_bits(-std::nan(""), DType::float32) == 0xFFC00000);
  CHECK_THROWS(to_bits(1.0, DType::int32));
  CHECK_THROWS(from_bits(1, DType::boolean));
}

TEST_CASE("ordinals count the values between two") {
  for (const Narrow& format : kNarrow) {
    for (std::uint32_t bits = 0; bits < format.highest; ++bits) {
      REQUIRE(ordinal(bits + 1, format.dtype) - ordinal(bits, format.dtype) == 1);
      REQUIRE(next_up(bits, format.dtype) == bits + 1);
      REQUIRE(next_down(bits + 1, format.dtype) == bits);
    }
    const std::uint64_t smallest_negative = next_down(0, format.dtype);
    CHECK(from_bits(smallest_negative, format.dtype) == -from_bits(1, format.dtype));
    CHECK(next_up(smallest_negative, format.dtype) == 0);
  }
  CHECK(ordinal(to_bits(-0.0, DType::float32), DType::float32) == 0);
  CHECK(from_bits(next_up(to_bits(1.0, DType::float64), DType::float64), DType::float64) ==
        1 + 0x1p-52);
}
