// When enough cold runs were taken: what was asked for to the run, more only where they say more.
#include "engine/node/cold_stop.h"

#include <random>

#include "engine/node/median.h"
#include "tests/catch.h"

using namespace assay::node;

namespace {

constexpr double kPrepareNs = 80'000;

std::vector<double> drawn(std::size_t count, double mean_ns, double spread_ns) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(mean_ns, spread_ns);
  std::vector<double> samples(count);
  for (double& sample : samples) sample = normal(random);
  return samples;
}

ColdNext next(std::vector<double> samples_ns, bool may_add = true, bool was_cut = false) {
  return next_cold_runs({.samples_ns = std::move(samples_ns),
                         .asked = 100,
                         .may_add = may_add,
                         .was_cut = was_cut,
                         .beside_ns = kPrepareNs});
}

}  // namespace

TEST_CASE("a number that was asked for is the number that is taken, however wide the interval") {
  const ColdNext wide = next(drawn(100, 1e6, 3e5), false);
  CHECK(wide.more == 0);
  CHECK(wide.stopped_by == StoppedBy::num_trials);
  CHECK(wide.half_share.value() > kEnoughOfMedian);
}

TEST_CASE("fewer than asked for, since they would take too long, were stopped by the budget") {
  CHECK(next(drawn(20, 1e8, 1e7), false, true).stopped_by == StoppedBy::budget);
  CHECK(next(drawn(20, 1e8, 1e7), true, true).more == 0);
}

TEST_CASE("a median that is known to half a hundredth needs no more runs") {
  const ColdNext known = next(drawn(100, 1e6, 1e3));
  CHECK(known.more == 0);
  CHECK(known.stopped_by == StoppedBy::interval);
  CHECK(known.half_share.value() <= kEnoughOfMedian);
}

TEST_CASE("what an event's clock cannot tell is not asked again and again") {
  const ColdNext is_short = next(drawn(100, 9'000, 300));  // 1 M additions on an H200
  CHECK(is_short.half_share.value() > kEnoughOfMedian);
  CHECK(is_short.more == 0);
  CHECK(is_short.stopped_by == StoppedBy::resolution);
}

TEST_CASE("an interval that more runs can narrow is narrowed, as far as the budget goes") {
  const double mean_ns = 200'000;
  for (const double spread_ns : {4'000.0, 8'000.0, 100'000.0}) {
    CAPTURE(spread_ns);
    std::size_t count = 100;
    int steps = 0;
    ColdNext step = next(drawn(count, mean_ns, spread_ns));
    CHECK(step.more > 0);
    while (step.more > 0) {
      count += step.more;
      ++steps;
      step = next(drawn(count, mean_ns, spread_ns));
    }
    CHECK(steps <= 6);
    CHECK(count <= 100 * kMostTimesAsked);
    CHECK(static_cast<double>(count - 100) * (0.9 * mean_ns + kPrepareNs) <= kAddedBudgetNs);
    const bool is_known = step.half_share.value() <= kEnoughOfMedian;
    CHECK((step.stopped_by == StoppedBy::interval) == is_known);
    if (!is_known) CHECK(step.stopped_by == StoppedBy::budget);
  }
  CHECK(next(drawn(100, mean_ns, 4'000)).more < 300);
}

TEST_CASE("long kernels get as many more as the budget of time has") {
  const ColdNext step = next(drawn(100, 5e6, 1e6));
  CHECK(step.more == 39);
  CHECK(next(drawn(100, 3e8, 1e8)).more == 0);
  CHECK(next(drawn(100, 3e8, 1e8)).stopped_by == StoppedBy::budget);
}

TEST_CASE("runs that nobody asked for do not use up the time that a call allows") {
  const auto with_left = [](double left_ns) {
    return next_cold_runs(
        {.samples_ns = drawn(100, 5e6, 1e6), .asked = 100, .may_add = true, .left_ns = left_ns});
  };
  CHECK(with_left(1e9).more > 30);
  CHECK(with_left(1e8).more <= 5);
  CHECK(with_left(0).more == 0);
  CHECK(with_left(-1e9).more == 0);
}

TEST_CASE("too few runs for an interval, or times that are none, end it") {
  CHECK(next({}).more == 0);
  CHECK(next({1e6, 2e6, 3e6}).more == 0);
  CHECK_FALSE(next({1e6, 2e6, 3e6}).half_share);
  CHECK(next(std::vector<double>(100, 0.0)).more == 0);
}
