// What random numbers are made of: words that do not repeat, functions right to the last bits.
#include "engine/judge/normal.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/judge/philox.h"
#include "tests/catch.h"

using namespace assay::judge;

TEST_CASE("Philox is bijective in its counter and moves with its key") {
  CHECK(philox(0, 0, 0) == PhiloxBlock{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8});
  std::set<PhiloxBlock> seen;
  for (std::uint64_t i = 0; i < 10000; ++i) seen.insert(philox(1, i, 2));
  CHECK(seen.size() == 10000);
  CHECK(philox(1, 0, 0) != philox(1ULL << 32, 0, 0));
  CHECK(philox(0, 1, 0) != philox(0, 0, 1));
}

TEST_CASE("logarithm, sine and cosine are right to the last bits") {
  long double worst_log = 0;
  long double worst_angle = 0;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const PhiloxBlock block = philox(4, i, 4);
    const double u = (static_cast<double>(block[0]) + 0.5) * 0x1p-32;
    const long double log = std::log(static_cast<long double>(u));
    worst_log =
        std::max(worst_log, std::fabs((static_cast<long double>(natural_log(u)) - log) / log));
    const double x = (static_cast<double>(block[1]) * 0x1p-32 - 0.5) * 1.5707963267948966;
    const long double wide = x;
    worst_angle = std::max(worst_angle, std::fabs(sine_near_zero(x) - std::sin(wide)));
    worst_angle = std::max(worst_angle, std::fabs(cosine_near_zero(x) - std::cos(wide)));
  }
  CHECK(worst_log < 4e-16L);
  CHECK(worst_angle < 2e-16L);
  for (const double u : {0x1p-33, 0x1p-54, 1 - 0x1p-33, 1 - 0x1p-53, 0.5, 0.70710678118654752,
                         0.70710678118654746}) {
    const long double log = std::log(static_cast<long double>(u));
    CHECK(std::fabs((static_cast<long double>(natural_log(u)) - log) / log) < 4e-16L);
  }
}

TEST_CASE("a pair lies on its circle at its angle, in every quadrant") {
  for (std::uint64_t i = 0; i < 4096; ++i) {
    const auto b = static_cast<std::uint32_t>(i << 20);
    const NormalPair pair = normal_pair(0x12345678U, b);
    const long double radius = std::sqrt(-2 * std::log((0x12345678 + 0.5L) / 4294967296.0L));
    const long double angle = 2 * 3.14159265358979323846264338327950288L * b / 4294967296.0L;
    CHECK(std::fabs(pair.first - radius * std::cos(angle)) < 2e-15L);
    CHECK(std::fabs(pair.second - radius * std::sin(angle)) < 2e-15L);
    const NormalPair wide = normal_pair(0x1234567800000000ULL, static_cast<std::uint64_t>(b) << 32);
    CHECK(std::fabs(wide.first - pair.first) < 1e-8);
    CHECK(std::fabs(wide.second - pair.second) < 1e-8);
  }
}
