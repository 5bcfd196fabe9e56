// How long a device is kept busy whose clock was low.
#include "engine/runner/clock_ramp.h"

#include <array>

#include "tests/catch.h"

using assay::runner::ClockRamp;

namespace {

// Slices it takes on a device whose clock is that in slice i.
template <typename Clock>
std::size_t slices(double wanted_mhz, Clock&& clock_mhz) {
  ClockRamp ramp(wanted_mhz);
  std::size_t count = 0;
  while (ramp.goes_on() && count < 1000) ramp.note(clock_mhz(count++));
  return count;
}

constexpr auto kMost = static_cast<std::size_t>(ClockRamp::kLongest / ClockRamp::kSlice);

}  // namespace

TEST_CASE("a device that is where it should be and stays there is let go after three slices") {
  CHECK(slices(1500, [](std::size_t) { return 1980.0; }) == 3);
}

TEST_CASE("one that idled is kept busy until it has risen and is steady") {
  const auto idle = [](std::size_t i) {
    constexpr std::array kRising{1200.0, 1400.0, 1600.0};
    return i < 6 ? 345.0 : i < 9 ? kRising[i - 6] : 1980.0;
  };
  CHECK(slices(1500, idle) == 12);
}

TEST_CASE("one that stays low is given the time that leaving an idle clock takes, and no more") {
  CHECK(slices(1500, [](std::size_t) { return 345.0; }) == 10);
  CHECK(slices(1500, [](std::size_t i) { return i < 3 ? 345.0 : 1200.0; }) == 13);
}

TEST_CASE("one whose clock never rests is let go when nobody should wait any longer") {
  CHECK(slices(1500, [](std::size_t i) { return i % 2 == 0 ? 900.0 : 1980.0; }) == kMost);
  CHECK(kMost == 40);
}

TEST_CASE("where the clock cannot be told nothing is waited for") {
  CHECK(slices(1500, [](std::size_t) { return std::optional<double>(); }) == 1);
}
