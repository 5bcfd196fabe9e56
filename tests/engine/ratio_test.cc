// A verdict between two kernels: how often it is wrong when nothing differs, and what it takes to
// be sure.
#include "engine/node/ratio.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"

using namespace assay;
using node::ratio_of;
using node::RatioVerdict;

namespace {

struct Turns {
  std::vector<double> reference{};
  std::vector<double> candidate{};
};

// Times around `base_ns`, both sides drifting together as a device's clock does.
Turns turns(std::mt19937_64& random, std::size_t pairs, double base_ns, double factor,
            double noise) {
  std::normal_distribution<double> wobble(0, noise);
  Turns made;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double drift = 1 + 0.05 * std::sin(static_cast<double>(i));
    made.reference.push_back(base_ns * drift * std::exp(wobble(random)));
    made.candidate.push_back(base_ns * factor * drift * std::exp(wobble(random)));
  }
  return made;
}

double share_of(RatioVerdict verdict, double factor, double doubt_ns) {
  std::mt19937_64 random(11);
  int seen = 0;
  constexpr int kTimes = 2000;
  for (int i = 0; i < kTimes; ++i) {
    const Turns made = turns(random, 12, 5'000, factor, 0.005);
    seen += ratio_of(made.reference, made.candidate, doubt_ns).verdict == verdict ? 1 : 0;
  }
  return static_cast<double>(seen) / kTimes;
}

}  // namespace

TEST_CASE("a kernel against itself is told from itself in less than one of a hundred") {
  CHECK(share_of(RatioVerdict::indistinguishable, 1.0, 0) > 0.99);
}

TEST_CASE("two percent are found beside noise of half a percent, in both directions") {
  CHECK(share_of(RatioVerdict::slower, 1.02, 0) > 0.95);
  CHECK(share_of(RatioVerdict::faster, 1 / 1.02, 0) > 0.95);
}

TEST_CASE("a difference of repeated launches has to be there alone, at least half of it") {
  using node::is_borne_out;
  CHECK(is_borne_out({50'000, 40'000}, {55'000, 46'000}));
  CHECK_FALSE(is_borne_out({50'000, 5'000}, {55'000, 55'000}));
  CHECK_FALSE(is_borne_out({5'000, 50'000}, {55'000, 55'000}));
  CHECK_FALSE(is_borne_out({5'000, 1'000}, {9'000, 9'000}));
  CHECK(is_borne_out({5'000, 4'000}, {9'000, 9'000}));  // an event resolves no less
  CHECK(is_borne_out({5'000, 5'000}, {9'000, 20'000}));
  CHECK(is_borne_out({40'000, 20'000}, {60'000, 60'000}, 11'000));
}

TEST_CASE("what two pairs of five show is no verdict, however sure their mean is") {
  std::vector<double> reference(48, 300'000), candidate;
  for (int i = 0; i < 48; ++i) candidate.push_back(i % 5 % 2 == 1 ? 15'000 : 299'000 + 100 * i);
  const auto few = ratio_of(reference, candidate);
  CHECK(few.low > 1.5);
  CHECK(few.verdict == RatioVerdict::indistinguishable);
  CHECK(ratio_of(candidate, reference).verdict == RatioVerdict::indistinguishable);
  for (double& ns : candidate) ns = std::min(ns, 200'000.0);
  CHECK(ratio_of(reference, candidate).verdict == RatioVerdict::faster);
}

TEST_CASE("an interval of many pairs is Student's, not the normal one") {
  // Two-sided 99 %: 2.7440 for 31 degrees of freedom, 2.6846 for 47 (tables of the distribution).
  for (const auto& [pairs, quantile] : {std::pair{32, 2.7440}, {48, 2.6846}}) {
    std::vector<double> reference, candidate;
    for (int i = 0; i < pairs; ++i) {
      reference.push_back(i % 2 == 0 ? 100 : 110);
      candidate.push_back(100);
    }
    const auto ratio = ratio_of(reference, candidate);
    const double spread = std::log(1.1) / 2 * std::sqrt(pairs / (pairs - 1.0));
    CHECK(std::abs(std::log(ratio.high / ratio.low) / 2 - quantile * spread / std::sqrt(pairs)) <
          1e-4 * spread);
  }
}

TEST_CASE("the interval holds the true ratio in ninety-nine of a hundred") {
  std::mt19937_64 random(7);
  int inside = 0;
  constexpr int kTimes = 4000;
  for (int i = 0; i < kTimes; ++i) {
    const Turns made = turns(random, 12, 5'000, 1.1, 0.02);
    const auto ratio = ratio_of(made.reference, made.candidate);
    inside += ratio.low <= 1 / 1.1 && 1 / 1.1 <= ratio.high ? 1 : 0;
  }
  const double share = static_cast<double>(inside) / kTimes;
  CHECK(share > 0.98);
  CHECK(share < 0.998);
}

TEST_CASE("what may differ by nature is no verdict, what differs by more is one") {
  // 100 ns of 5 us are two percent.
  CHECK(share_of(RatioVerdict::indistinguishable, 1.015, 100) > 0.99);
  CHECK(share_of(RatioVerdict::slower, 1.04, 100) > 0.95);
}
