// What a launch takes by graphs of N and 2N, whoever makes one of them longer.
#include "engine/node/graph_slope.h"

#include "tests/catch.h"

using assay::node::beside_ns;
using assay::node::excess_ns;
using assay::node::GraphTimes;
using assay::node::GraphTurn;
using assay::node::launch_ns;
using assay::node::slope_ns;
using assay::node::turn_of;

namespace {

constexpr std::uint32_t kLaunches = 64;

// Of launches of 3 us and a graph that costs 6; somebody spins for so long in the shorter one.
GraphTimes graphs(double spins_ns, double launch_ns = 3'000) {
  constexpr double kCostsNs = 6'000;
  return {.once_ns = kCostsNs + kLaunches * launch_ns + spins_ns,
          .twice_ns = kCostsNs + 2 * kLaunches * launch_ns,
          .launches = kLaunches};
}

}  // namespace

TEST_CASE("the slope of two graphs is a launch's time, free of what a graph costs") {
  CHECK(slope_ns(graphs(0)) == 3'000);
  CHECK(beside_ns(graphs(0)) == 6'000);
  CHECK(slope_ns({}) == 0);
  const GraphTurn turn = turn_of({graphs(0), graphs(0, 4'000), graphs(0, 9'000)});
  CHECK(turn.slope_ns == 4'000);
  CHECK(turn.beside_ns == 6'000);
  CHECK(launch_ns(turn, 0) == 4'000);
  CHECK(launch_ns(turn_of({}), 0) == 0);
}

TEST_CASE("to spin in the shorter graph makes a slope less by what a graph may cost, and no more") {
  const GraphTimes told = graphs(kLaunches * 1'500.0);
  CHECK((told.twice_ns - told.once_ns) / kLaunches == 1'500);
  CHECK(slope_ns(told) > 2'900);
  CHECK(slope_ns(told) < 3'000);
}

TEST_CASE("beside another side it gains what graphs of both differ by, whichever of both spins") {
  const std::vector<GraphTurn> honest(5, turn_of({graphs(0)}));
  for (const double spins_ns : {3'000.0, 90'000.0}) {
    const std::vector<GraphTurn> spinning(5, turn_of({graphs(spins_ns)}));
    CHECK(launch_ns(spinning.front(), excess_ns(spinning, honest)) > 2'980);
    CHECK(launch_ns(honest.front(), excess_ns(honest, spinning)) == 3'000);
  }
}

TEST_CASE("graphs of two sides cost a little more or less, and those of a slow one nothing") {
  const std::vector<GraphTurn> honest(5, turn_of({graphs(0)}));
  CHECK(excess_ns({turn_of({graphs(900)})}, honest) == 0);
  CHECK(excess_ns({turn_of({graphs(1'500)})}, honest) == 1'000);
  GraphTimes slow = graphs(0);
  slow.twice_ns += 50'000;
  CHECK(excess_ns(honest, {turn_of({slow})}) == 1'500);
  CHECK(excess_ns({turn_of({slow})}, honest) == 0);
  // A turn that could not be taken says nothing.
  CHECK(excess_ns({turn_of({graphs(900)}), turn_of({})}, honest) == 0);
}
