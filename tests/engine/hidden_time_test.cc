// Whether events hide time, from what looks at N and 2N launches saw beside them.
#include "engine/runner/hidden_time.h"

#include "tests/catch.h"

using namespace assay::runner;

namespace {

constexpr std::uint32_t kLaunches = 64;
constexpr double kSlopeNs = 2'000;

struct Found {
  std::uint32_t looks = 0;
  double ns = 0;
};

// `once` and `twice`: what look i saw beside the events.
template <typename Once, typename Twice>
Found found(Once&& once, Twice&& twice) {
  HiddenTime hidden(kLaunches, kSlopeNs);
  Found out;
  while (hidden.goes_on() && out.looks < 1000) {
    hidden.note(once(out.looks), twice(out.looks));
    ++out.looks;
    out.ns = hidden.ns();
  }
  return out;
}

}  // namespace

TEST_CASE("a stretch that takes little more than its events say is not looked at again") {
  CHECK_FALSE(HiddenTime::is_suspected({.launches = 640, .wall_ns = 1.4e6, .events_ns = 1.28e6}));
  CHECK_FALSE(HiddenTime::is_suspected({.launches = 640, .wall_ns = 9e5, .events_ns = 1e6}));
  CHECK(HiddenTime::is_suspected({.launches = 640, .wall_ns = 2.56e6, .events_ns = 1.28e6}));
  CHECK(HiddenTime::is_suspected({.launches = 640, .wall_ns = 2e6, .events_ns = 0}));
}

TEST_CASE("what launching and waiting cost is not hidden, and seen at the first look") {
  const auto cost = [](std::uint32_t) { return 60'000.0; };
  const Found honest = found(cost, cost);
  CHECK(honest.looks == 1);
  CHECK(honest.ns == 0);
}

TEST_CASE("a host that is away in most looks accuses nobody") {
  const auto cost = [](std::uint32_t) { return 60'000.0; };
  const auto away = [](std::uint32_t look) { return look == 6 ? 70'000.0 : 9e6; };
  const Found honest = found(cost, away);
  CHECK(honest.looks == 7);
  CHECK(honest.ns < 500);
}

TEST_CASE("what grows with the launches is found, and looked for as often as anybody should") {
  const Found cheat = found([](std::uint32_t) { return 60'000 + kLaunches * kSlopeNs; },
                            [](std::uint32_t) { return 60'000 + 2 * kLaunches * kSlopeNs; });
  CHECK(cheat.looks == HiddenTime::kMostLooks);
  CHECK(cheat.ns == kSlopeNs);
}
