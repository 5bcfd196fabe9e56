// The interval of a median holds what it promises, whatever the distribution.
#include "tools/statistics.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/catch.h"

using namespace assay::tools;

TEST_CASE("few samples have no interval of their median", "[statistics]") {
  for (std::size_t count = 0; count < 8; ++count) {
    CHECK_FALSE(median_interval(std::vector<double>(count, 1.0)));
  }
  CHECK(median_interval({8, 7, 6, 5, 4, 3, 2, 1}) == std::pair(1.0, 8.0));
}

TEST_CASE("ranks are those that tables of order statistics have", "[statistics]") {
  // 99 %: of 20 samples the 4th and the 17th, of 100 the 37th and the 64th.
  for (const auto& [count, low, high] : {std::tuple(20, 4, 17), std::tuple(100, 37, 64)}) {
    std::vector<double> samples(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) samples[static_cast<std::size_t>(i)] = count - i;
    CHECK(median_interval(samples) == std::pair<double, double>(low, high));
  }
}

TEST_CASE("at least 99 of 100 intervals hold the true median", "[statistics]") {
  std::mt19937 random(11);
  std::exponential_distribution<double> skewed(1.0);
  for (const std::size_t count : {8, 30, 101, 400}) {
    int missed = 0;
    constexpr int kRounds = 4000;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<double> samples(count);
      for (double& sample : samples) sample = skewed(random);
      const auto interval = median_interval(samples);
      REQUIRE(interval);
      missed += interval->first > std::log(2.0) || interval->second < std::log(2.0);
    }
    CAPTURE(count, missed);
    CHECK(missed <= 1.5 * kRounds / 100);  // 1 % and what chance adds in 4,000
    if (count > 100) CHECK(missed > 0);
  }
}

TEST_CASE("many samples are no more than their logarithms take", "[statistics]") {
  std::vector<double> samples(100'000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i);
  const auto interval = median_interval(samples);
  REQUIRE(interval);
  // 2.576 standard deviations of the rank on either side.
  CHECK(std::abs(interval->first - (50'000 - 2.576 * std::sqrt(100'000.0) / 2)) < 3);
  CHECK(std::abs(interval->second - (50'000 + 2.576 * std::sqrt(100'000.0) / 2)) < 3);
}
