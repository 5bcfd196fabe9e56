// What is told of a device's clocks, from turns that a GPU is not needed for.
#include "engine/node/clock_log.h"

#include "engine/node/median.h"
#include "tests/catch.h"

using namespace assay::node;
using nlohmann::json;

namespace {

Turn at(double mhz, const json& state = nullptr) { return {.clock_mhz = mhz, .state = state}; }

json told(const std::vector<Turn>& turns, double highest_mhz = 0) {
  ClockLog log(highest_mhz);
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

TEST_CASE("a clock that is low throughout is told, with what holds it down if anybody says so") {
  CHECK(told({at(1480), at(1500)}, 1980).at("warnings").empty());
  CHECK(told({at(345), at(345)}).at("warnings").empty());  // nobody knows what it could be
  const auto message = [](const json& state) {
    const json warnings = told({at(1200, state), at(1210)}, 1980).at("warnings");
    for (const auto& warning : warnings) {
      if (warning.at("code") == "low_clock") return warning.at("message").get<std::string>();
    }
    return std::string();
  };
  CHECK(message(nullptr).find("1210 of 1980 MHz") != std::string::npos);
  CHECK(message(nullptr).find("names no reason") != std::string::npos);
  CHECK(message({{"held_down", {"heat"}}}).find("(held down by: heat)") != std::string::npos);
  CHECK(message({{"set_lower", true}}).find("operator") != std::string::npos);
}

TEST_CASE("what a ramp took, from which clock, and the highest there is stand beside the clocks") {
  Turn ramped = at(1980);
  ramped.ramped_from_mhz = 345;
  ramped.ramped_ms = 60;
  const json clocks = told({ramped, at(1980)}, 1980).at("clocks");
  CHECK(clocks.at("ramped_ms") == 60);
  CHECK(clocks.at("ramped_from_mhz") == 345);
  CHECK(clocks.at("sm_mhz_highest") == 1980);
  const json none = told({at(1980)}).at("clocks");
  CHECK(none.at("ramped_ms") == 0);
  CHECK_FALSE(none.contains("ramped_from_mhz"));
  CHECK_FALSE(none.contains("sm_mhz_highest"));
}

TEST_CASE("who else is on a device is no clock") {
  const json clocks =
      told({at(1000, {{"pids", {1, 2}}, {"working", {3, 4}}, {"busy_pct", 7}, {"processes", 2}})})
          .at("clocks");
  CHECK(clocks.at("processes") == 2);
  for (const char* key : {"pids", "working", "busy_pct"}) CHECK_FALSE(clocks.contains(key));
}

TEST_CASE("the highest clock is what the devices role tells") {
  CHECK(highest_mhz({{"clock_khz", 1'980'000}}) == 1980);
  CHECK(highest_mhz(json::object()) == 0);
  CHECK(highest_mhz({{"clock_khz", nullptr}}) == 0);
}

TEST_CASE("a median is the middle, or between the two in the middle") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 2}) == 2);
  CHECK(median({4, 1, 2, 9}) == 3);
}
