// What is told of a device's clocks, from turns that a GPU is not needed for.
#include "engine/node/clock_log.h"

#include "engine/node/median.h"
#include "tests/catch.h"

using namespace assay::node;
using nlohmann::json;

namespace {

Turn at(double mhz, const json& state = nullptr) { return {.clock_mhz = mhz, .state = state}; }

json told(const std::vector<Turn>& turns) {
  ClockLog log;
  for (const Turn& turn : turns) log.note(turn);
  json body = {{"warnings", json::array()}};
  log.tell(body);
  return body;
}

}  // namespace

TEST_CASE("clocks that stay where they are raise no warning; the state last seen is told") {
  const json body = told({at(1000), at(1010, {{"temperature_c", 50}}), at(1020), Turn{}});
  CHECK(body.at("warnings").empty());
  const json& clocks = body.at("clocks");
  CHECK(clocks.at("sm_mhz_min") == 1000);
  CHECK(clocks.at("sm_mhz_median") == 1010);
  CHECK(clocks.at("sm_mhz_max") == 1020);
  CHECK(clocks.at("temperature_c") == 50);
  CHECK(clocks.at("held_down").empty());
}

TEST_CASE("clocks that moved by more than three in a hundred are told") {
  CHECK(told({at(1000), at(1030)}).at("warnings").empty());
  const json body = told({at(1000), at(1040)});
  REQUIRE(body.at("warnings").size() == 1);
  CHECK(body.at("warnings").at(0).at("code") == "unstable_clock");
}

TEST_CASE("what held a device's clocks down at any turn is told, also when it let go") {
  const json body = told({at(1000, {{"held_down", {"heat"}}}), at(1000, {{"held_down", {"power"}}}),
                          at(1000, {{"held_down", json::array()}})});
  CHECK(body.at("clocks").at("held_down") == json({"heat", "power"}));
  REQUIRE(body.at("warnings").size() == 1);
  CHECK(body.at("warnings").at(0).at("code") == "throttled");
  CHECK(body.at("warnings").at(0).at("message").get<std::string>().find("(heat, power)") !=
        std::string::npos);
}

TEST_CASE("a device that tells nothing of its clocks has none") {
  const json body = told({Turn{}});
  CHECK_FALSE(body.at("clocks").contains("sm_mhz_min"));
  CHECK(body.at("warnings").empty());
}

TEST_CASE("a median is the middle, or between the two in the middle") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 9}) == 3);
}
