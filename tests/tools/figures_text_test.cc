// Who reads only the text of an answer learns what was measured, and by which clock.
#include <algorithm>

#include "tests/tools/evaluate_world.h"
#include "tools/figures_text.h"
#include "tools/report.h"

using namespace assay;
using namespace assay::tests;
using mcp::Json;
using mcp::OrderedJson;
using tools::figures_lines;
using Lines = std::vector<std::string>;

namespace {

OrderedJson timed(const Json& timing, const Json& speedup = nullptr) {
  return {{"verdict", "passed"}, {"timing", timing}, {"speedup", speedup}};
}

Json median(double ns) { return {{"runs", 100}, {"median_ns", ns}}; }

Json speedup(double ratio, double low, double high, const char* verdict) {
  return {
      {"ratio", ratio}, {"low", low}, {"high", high}, {"verdict", verdict}, {"detectable", 0.0125}};
}

}  // namespace

TEST_CASE("an evaluation's medians are told with their clock", "[figures]") {
  const Json views = {{"clock", "gpu"},
                      {"cold", median(5120)},
                      {"warm", median(4100.4)},
                      {"graph", median(987.25)}};
  CHECK(figures_lines(timed(views)) ==
        Lines{"cold 5.12 µs, warm 4.1 µs, graph 987.2 ns (medians, clock: gpu)"});
  CHECK(figures_lines(timed({{"clock", "gpu"},
                             {"cold", median(2.5e6)},
                             {"warm", {{"unavailable", "too long"}}},
                             {"graph", nullptr}})) == Lines{"cold 2.5 ms (medians, clock: gpu)"});
  CHECK(figures_lines(timed({{"clock", "wall"}, {"per_call", median(3e9)}})) ==
        Lines{"a call 3 s (medians, clock: wall)"});
}

TEST_CASE("a comparison's text says faster, slower or what could have been told", "[figures]") {
  const Json timing = {
      {"clock", "gpu"}, {"cold", median(5000)}, {"reference", {{"cold", median(6450)}}}};
  const std::string rest = " · cold 5 µs; reference 6.45 µs (medians, clock: gpu)";
  CHECK(figures_lines(timed(timing, speedup(1.29, 1.27, 1.31, "faster"))) ==
        Lines{"1.29 times as fast as the reference [1.27, 1.31], faster" + rest});
  CHECK(figures_lines(timed(timing, speedup(0.9012, 0.89, 0.91, "slower"))) ==
        Lines{"0.9012 times as fast as the reference [0.89, 0.91], slower" + rest});
  CHECK(figures_lines(timed(timing, speedup(1.001, 0.99, 1.012, "indistinguishable"))) ==
        Lines{"1.001 times as fast as the reference [0.99, 1.012], indistinguishable "
              "(detectable from 1.25 %)" +
              rest});
  Json untold = timing;
  untold["speedup_note"] = "too few runs";
  CHECK(figures_lines(timed(untold)) == Lines{"no ratio: too few runs" + rest});
}

TEST_CASE("no figure is told of emulated times, nor of what did not pass", "[figures]") {
  const auto emulated = figures_lines(timed({{"clock", "emulated"}, {"runs", 30}}));
  REQUIRE(emulated.size() == 1);
  CHECK(emulated[0].find_first_of("0123456789") == std::string::npos);
  CHECK(emulated[0].find("emulator") != std::string::npos);
  OrderedJson wrong = timed({{"clock", "gpu"}, {"cold", median(5000)}});
  for (const Json& verdict : {Json("wrong_output"), Json("timed_out"), Json(nullptr)}) {
    wrong["verdict"] = verdict;
    CHECK(figures_lines(wrong).empty());
  }
  for (const Json& timing : {Json(nullptr), Json(), Json(7), Json::object()})
    CHECK(figures_lines(timed(timing)).empty());
  CHECK(figures_lines({{"verdict", "passed"}}).empty());
}

TEST_CASE("a sweep's first ten variants stand in its text, with rank, time and trust",
          "[figures]") {
  OrderedJson report = {{"kind", "sweep"}, {"verdict", "passed"}};
  report["table"] = Json::array({{{"name", "kernel TILE=8"},
                                  {"rank", 1},
                                  {"median_ns", 6120.0},
                                  {"cost_ns", 5120.0},
                                  {"cost_basis", "graph"},
                                  {"trust", "verified"},
                                  {"verdict", "passed"}},
                                 {{"name", "kernel TILE=4"},
                                  {"rank", 1},
                                  {"median_ns", 5130.0},
                                  {"cost_ns", 5130.0},
                                  {"cost_basis", "cold"},
                                  {"tied_with_best", true},
                                  {"trust", "verified"},
                                  {"verdict", "passed"}},
                                 {{"name", "kernel TILE=2"},
                                  {"rank", 3},
                                  {"thread_instructions", 22264.0},
                                  {"verdict", "passed"}},
                                 {{"name", "kernel TILE=1"}, {"verdict", "crashed"}},
                                 {{"name", "kernel TILE=0"},
                                  {"verdict", nullptr},
                                  {"note", "not run: the budget was spent"}}});
  CHECK(figures_lines(report) == Lines{"1. kernel TILE=8 · 5.12 µs (graph) · verified",
                                       "1. kernel TILE=4 · 5.13 µs · verified, tied",
                                       "3. kernel TILE=2 · 22264 thread instructions",
                                       "-  kernel TILE=1 · crashed",
                                       "-  kernel TILE=0 · not run: the budget was spent"});
  while (report["table"].size() < 64) report["table"].push_back(report["table"][0]);
  const Lines lines = figures_lines(report);
  REQUIRE(lines.size() == 10);
  CHECK(lines.back() == "1. kernel TILE=8 · 5.12 µs (graph) · verified (and 54 more in `table`)");
}

TEST_CASE("an answer's text has the figures and six lines at most", "[figures]") {
  EvaluateWorld world;
  auto& stage = world.engine.stages.emplace_back();
  stage.name = "timed";
  stage.body = {{"clock", "gpu"},
                {"note", "between two events"},
                {"samples_ns", {5000.0, 5000.0}},
                {"reference_samples_ns", {6450.0, 6450.0}},
                {"speedup", speedup(1.29, 1.27, 1.31, "faster")}};
  world.engine.conclusion.body = {{"summary", "Passed: equal to the reference."},
                                  {"warnings", {{{"message", "one"}}, {{"message", "two"}}}}};
  const std::string text = call(tools::evaluate(world.jobs), evaluate_arguments()).text;
  CHECK(
      text.starts_with("passed\nPassed: equal to the reference.\n1.29 times as fast as the "
                       "reference [1.27, 1.31], faster · cold 5 µs; reference 6.45 µs"));
  CHECK(std::count(text.begin(), text.end(), '\n') <= 5);
  CHECK(text.find("\njob_id: ") != std::string::npos);
}
