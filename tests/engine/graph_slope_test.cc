// What a launch takes by graphs of N and 2N, whoever makes one of them longer.
#include "engine/node/graph_slope.h"

#include "tests/catch.h"

using assay::node::beside_ns;
using assay::node::graph_costs;
using assay::node::GraphTimes;
using assay::node::launch_ns;
using assay::node::slope_ns;

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
  CHECK(launch_ns(graphs(0), 6'000) == 3'000);
  CHECK(launch_ns({}, 6'000) == 0);
}

TEST_CASE("to spin in the shorter graph makes a slope less by what a graph may cost, and no more") {
  const double spins_ns = kLaunches * 1'500.0;
  const GraphTimes told = graphs(spins_ns);
  CHECK((told.twice_ns - told.once_ns) / kLaunches == 1'500);
  CHECK(slope_ns(told) > 2'800);
  CHECK(slope_ns(told) < 3'000);
}

TEST_CASE("beside another side it gains what graphs of both differ by, whichever of both spins") {
  for (const bool is_other : {false, true}) {
    const std::vector<GraphTimes> spinning(5, graphs(90'000));
    const std::vector<GraphTimes> honest(5, graphs(0));
    const auto costs = is_other ? graph_costs(honest, spinning) : graph_costs(spinning, honest);
    CHECK((is_other ? costs.one_ns : costs.other_ns) == 6'000);
    const double spinning_ns = is_other ? costs.other_ns : costs.one_ns;
    CHECK(spinning_ns == 8'000);
    CHECK(launch_ns(spinning.front(), spinning_ns) > 2'980);
    CHECK(launch_ns(honest.front(), 6'000) == 3'000);
  }
}

TEST_CASE("a graph costs nothing that is less than nothing, and each side its own") {
  GraphTimes slow = graphs(0);
  slow.twice_ns += 50'000;
  CHECK(graph_costs({slow}, {graphs(0)}).one_ns == 0);
  CHECK(graph_costs({slow}, {graphs(0)}).other_ns == 2'000);
  CHECK(graph_costs({graphs(1'000)}, {graphs(0)}).one_ns == 8'000);
  CHECK(graph_costs({graphs(500)}, {graphs(0)}).one_ns == 7'000);
  CHECK(graph_costs({}, {graphs(0)}).one_ns == 0);
}
