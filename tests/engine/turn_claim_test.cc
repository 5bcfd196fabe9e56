// What a kernel's runner says of a turn on a device: times, clocks, the device's state, graphs.
#include "engine/node/turn_claim.h"

#include "engine/node/kernel_claim.h"
#include "engine/runner/outcome_frame.h"
#include "tests/catch.h"

using namespace assay;
using namespace assay::node;
using nlohmann::json;

namespace {

template <typename Claim>
Ended ended(const Claim& claim) {
  REQUIRE(std::holds_alternative<Ended>(claim));
  return std::get<Ended>(claim);
}

}  // namespace

TEST_CASE("what a runner says of a turn arrives: its wall clock, its ramp, who else is there") {
  runner::Timed timed{.samples_ns = {5, 7}, .launches = 2, .clock_mhz = 1900};
  timed.wall = runner::Wall{.launches = 20, .wall_ns = 300, .events_ns = 200, .hidden_ns = 4};
  timed.ramp = runner::Ramp{.from_mhz = 345, .ms = 60};
  timed.digests = {~std::uint64_t{0}, 7};
  timed.begun_with = {3};
  timed.state.pids = {11, 12};
  timed.state.working = {{.pid = 12, .sm_pct = 90}};
  timed.state.busy_pct = 80;
  timed.state.is_set_lower = true;
  const auto heard = [](const json& turn) {
    auto claim = turns_claim({{"type", "timed"}, {"turns", json::array({turn})}},
                             {{.runs = turn.at("samples_ns").size()}});
    REQUIRE(std::holds_alternative<Turns>(claim));
    return std::get<Turns>(claim).taken.at(0);
  };
  const Turn turn = heard(runner::turn_frame(timed, {.tell_state = true}));
  REQUIRE(turn.wall);
  CHECK(turn.wall->launches == 20);
  CHECK(turn.wall->wall_ns == 300);
  CHECK(turn.wall->events_ns == 200);
  CHECK(turn.wall->hidden_ns == 4.0);
  CHECK(turn.ramped_from_mhz == 345.0);
  CHECK(turn.ramped_ms == 60);
  CHECK(turn.digests == std::vector{~std::uint64_t{0}, std::uint64_t{7}});
  CHECK(turn.begun_with == std::vector<std::uint64_t>{3});
  CHECK(turn.state.at("pids") == json({11, 12}));
  CHECK(turn.state.at("working").at(0) == json({{"pid", 12}, {"sm_pct", 90}}));
  CHECK(turn.state.at("busy_pct") == 80);
  CHECK(turn.state.at("set_lower") == true);

  const Turn plain = heard(runner::turn_frame({.samples_ns = {5}}, {}));
  CHECK_FALSE(plain.wall);
  CHECK_FALSE(plain.ramped_from_mhz);
  CHECK(plain.state.is_null());
}

TEST_CASE("a wall clock that is no number is the runner's end, no exception of ours") {
  json turn = runner::turn_frame({.samples_ns = {5}}, {});
  turn["wall"] = {{"launches", "many"}, {"wall_ns", 1}, {"events_ns", 1}};
  const json body = {{"type", "timed"}, {"turns", json::array({turn})}};
  const auto claim =
      decode_claim(RunnerRole::gpu_kernel, [&] { return turns_claim(body, {{.runs = 1}}); });
  CHECK(std::holds_alternative<Ended>(claim));
}

TEST_CASE("a turn in which anything is of no kind or beyond all bounds is the runner's end") {
  const json good = runner::turn_frame({.samples_ns = {5, 6}, .digests = {1, 2}, .begun_with = {3}},
                                       {.tell_state = true});
  const auto heard = [](const json& turn, OrderedTurn ordered) {
    const json body = {{"type", "timed"}, {"turns", json::array({turn})}};
    return decode_claim(RunnerRole::gpu_kernel, [&] { return turns_claim(body, {ordered}); });
  };
  REQUIRE(std::holds_alternative<Turns>(heard(good, {.runs = 2})));
  const std::pair<const char*, json> strange[] = {
      {"/state", 7},
      {"/state", "held down"},
      {"/state", json::array()},
      {"/state/held_down", "always"},
      {"/state/held_down", {1, 2}},
      {"/state/held_down", json(1000, "power")},
      {"/state/set_lower", "yes"},
      {"/state/power_w", {}},
      {"/state/sm_mhz", -1},
      {"/state/busy_pct", "all"},
      {"/state/pids", 12},
      {"/state/working", {{"pid", 12}}},
      {"/samples_ns", {5}},
      {"/samples_ns", json::array()},
      {"/samples_ns", {5, 6, 7}},
      {"/samples_ns", {5, "6"}},
      {"/samples_ns", {5, 1e300}},
      {"/samples_ns", 5},
      {"/launches", -1},
      {"/launches", 1.5},
      {"/launches", std::uint64_t{1} << 40},
      {"/clock_mhz", -1980},
      {"/clock_mhz", 1e300},
      {"/event_overhead_ns", 1e300},
      {"/event_overhead_ns", nullptr},
      {"/note", {}},
      {"/digests", 7},
      {"/digests", {1U}},
      {"/digests", {1U, 2U, 3U}},
      {"/digests", {1U, -2}},
      {"/digests", {1U, "2"}},
      {"/begun_with", nullptr},
      {"/begun_with", {1.5}},
      {"/begun_with", json(1000, 1U)},
      {"/wall", 7},
      {"/wall", {{"launches", -1}, {"wall_ns", 1}, {"events_ns", 1}}},
      {"/wall", {{"launches", 1}, {"wall_ns", 1e300}, {"events_ns", 1}}},
      {"/ramp", {{"from_mhz", 345}}},
      {"/ramp", {{"from_mhz", 345}, {"ms", -1}}}};
  for (const auto& [place, value] : strange) {
    INFO(place << " " << value.dump().substr(0, 80));
    json turn = good;
    turn[json::json_pointer(place)] = value;
    const Ended told = ended(heard(turn, {.runs = 2}));
    CHECK(told.verdict ==
          blame({.why = RunnerEnd::Why::malformed}, RunnerRole::gpu_kernel).verdict);
    CHECK(told.detail.at("why") == "malformed");
  }
  // None at all is an answer of what may fail, and only of that.
  json none = good;
  none["samples_ns"] = json::array();
  none.erase("digests");
  CHECK(std::holds_alternative<Turns>(heard(none, {.runs = 2, .is_graph = true})));
}

TEST_CASE("a graph's turn says what its launches took, each pair of both") {
  const json good = runner::turn_frame(
      {.samples_ns = {1000, 900}, .once_ns = {20'000, 21'000}, .launches = 16}, {});
  const auto heard = [](const json& turn) {
    const json body = {{"type", "timed"}, {"turns", json::array({turn})}};
    return decode_claim(RunnerRole::gpu_kernel,
                        [&] { return turns_claim(body, {{.runs = 2, .is_graph = true}}); });
  };
  const Turn turn = std::get<Turns>(heard(good)).taken.at(0);
  REQUIRE(turn.graphs.size() == 2);
  CHECK(turn.graphs[1].once_ns == 21'000);
  CHECK(turn.graphs[1].twice_ns == 21'000 + 16 * 900);
  CHECK(turn.graphs[1].launches == 16);
  const std::pair<const char*, json> strange[] = {
      {"/once_ns", {20'000}}, {"/once_ns", {1, 2, 3}},  {"/once_ns", nullptr},
      {"/once_ns", {1, "2"}}, {"/once_ns", {1, 1e300}}, {"/launches", 0},
  };
  for (const auto& [place, value] : strange) {
    INFO(place << " " << value.dump());
    json told = good;
    told[json::json_pointer(place)] = value;
    CHECK(std::holds_alternative<Ended>(heard(told)));
  }
  json missing = good;
  missing.erase("once_ns");
  CHECK(std::holds_alternative<Ended>(heard(missing)));
}

TEST_CASE("what is told of a device's state is what the engine knows of it") {
  json turn = runner::turn_frame({.samples_ns = {5}}, {.tell_state = true});
  turn["state"]["sm_mhz"] = 1980;
  turn["state"]["more"] = std::string(100'000, 'x');
  turn["state"]["held_down"] = {std::string(100'000, 'y')};
  const auto claim = turns_claim({{"type", "timed"}, {"turns", {turn}}}, {{.runs = 1}});
  const json state = std::get<Turns>(claim).taken.at(0).state;
  CHECK(state.at("sm_mhz") == 1980);
  CHECK_FALSE(state.contains("more"));
  CHECK(state.dump().size() < 1000);
}
