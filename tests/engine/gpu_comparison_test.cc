// How a kernel and its reference take turns on a GPU, and which clock their ratio rests on. The
// processes are real, their device is not.
#include <set>

#include "tests/catch.h"
#include "tests/engine/timing_bench.h"

using namespace assay;
using namespace assay::timing_bench;

namespace {

// Of the program that idles, beside the one that does not.
json of_idling(std::uint64_t bytes) {
  Bench bench;
  bench.reference = bench.session();
  bench.kernel = Bench::idling();
  std::optional<node::Ended> ended;
  json body = bench.measure(bench.request(100, bytes), ended);
  REQUIRE_FALSE(ended);
  return body;
}

}  // namespace

TEST_CASE("both sides of a comparison go on in fresh processes, and it is made of cold runs") {
  Bench bench;
  bench.reference = bench.session();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(50), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.renewed == std::vector<bool>{true, false});
  CHECK(body.at("speedup").at("basis") == "cold");
  CHECK(body.at("speedup").at("ratio") == 1.0);
}

TEST_CASE("a ratio rests on the clock that was asked for") {
  const auto measured = [](std::uint64_t bytes, node::TimingMethod method) {
    Bench bench;
    bench.reference = bench.session();
    auto request = bench.request(20, bytes);
    request.method = method;
    std::optional<node::Ended> ended;
    json body = bench.measure(std::move(request), ended);
    CHECK_FALSE(ended);
    CHECK(bench.renewed.empty());
    return body;
  };
  using enum node::TimingMethod;
  CHECK(measured(kTellingBytes, automatic).at("speedup").at("basis") == "graph");
  CHECK(measured(kLongBytes, automatic).at("speedup").at("basis") == "cold");
  CHECK(measured(kLongBytes, graph).at("speedup").at("basis") == "graph");
  const json by_events = measured(kTellingBytes, events);
  CHECK(by_events.at("speedup").at("basis") == "cold");
  CHECK(by_events.at("views").at("graph").contains("unavailable"));
  CHECK(by_events.at("views").at("warm").contains("median_ns"));
}

TEST_CASE("what is saved back to back and not alone is not believed") {
  const json body = of_idling(kIdlingBytes);
  const json& speedup = body.at("speedup");
  CHECK(speedup.at("basis") == "cold");
  CHECK(speedup.at("verdict") == "indistinguishable");
  CHECK(speedup.at("by_graph").at("verdict") == "faster");
  CHECK(body.at("speedup_note").get<std::string>().starts_with("Back to back"));
}

TEST_CASE("what is saved in some graphs, and alone in none, is not believed either") {
  const json body = of_idling(kSometimesIdlingBytes);
  const json& speedup = body.at("speedup");
  CHECK(speedup.at("basis") == "cold");
  CHECK(speedup.at("ratio").get<double>() < 1.12);  // what all of them save
  CHECK(speedup.at("by_graph").at("verdict") == "faster");
  CHECK(speedup.at("by_graph").at("ratio").get<double>() > 1.5);
}

TEST_CASE("what is too little for events is believed where contents put anew show it too") {
  const json leaning = of_idling(kSlightlyLeaningBytes);
  CHECK(leaning.at("speedup").at("basis") == "cold");
  CHECK(leaning.at("speedup").at("verdict") == "indistinguishable");
  CHECK(leaning.at("speedup").at("by_graph").at("verdict") == "faster");
  CHECK(leaning.at("speedup_note").get<std::string>().find("put anew") != std::string::npos);
  const json faster = of_idling(kSlightlyFasterBytes);
  CHECK(faster.at("speedup").at("basis") == "graph");
  CHECK(faster.at("speedup").at("verdict") == "faster");
}

TEST_CASE(
    "what a launch alone shows a part of is believed where contents put anew show all of it") {
  const auto speedup = [](std::uint64_t bytes) { return of_idling(bytes).at("speedup"); };
  CHECK(speedup(kBarelyLeaningBytes).at("basis") == "cold");
  CHECK(speedup(kDoublySavingBytes).at("ratio").get<double>() < 2.1);
  const json alone = speedup(kOnlyAloneSavingBytes);
  CHECK(alone.at("basis") == "cold");
  CHECK(alone.at("ratio").get<double>() < 1.15);
  CHECK(alone.at("by_graph").at("ratio").get<double>() > 1.4);
  CHECK(speedup(kTwiceSavingBytes).at("basis") == "graph");
}

TEST_CASE("a reference that does less on what is there makes nothing slower") {
  Bench bench;
  bench.reference = Bench::idling();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kBarelyLeaningBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("speedup").at("basis") == "cold");
  CHECK(body.at("speedup").at("by_graph").at("verdict") == "slower");
}

TEST_CASE("who makes the shorter graph longer gains nothing") {
  const json body = of_idling(kSpinningBytes);
  CHECK(body.at("speedup").at("basis") == "graph");
  CHECK(body.at("speedup").at("verdict") == "indistinguishable");
  // By itself it is its own word, as far as a graph may cost.
  CHECK(body.at("views").at("graph").at("median_ns").get<double>() > 2'500);
}

TEST_CASE("where graphs decide, warm runs and graphs are looked at as well") {
  Bench bench;
  bench.reference = bench.session();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kTellingBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("speedup").at("basis") == "graph");
  CHECK(body.at("runs_examined") >= 5);  // three cold, one warm, one of the first pair

  Bench alone;
  CHECK(alone.measure(alone.request(100, kTellingBytes), ended).at("runs_examined") == 3);
}

TEST_CASE("where a graph cannot be captured any more, cold runs decide in fresh processes") {
  Bench bench;
  bench.reference = bench.session();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(20, kCapturedOnceBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("speedup").at("basis") == "cold");
  CHECK(body.at("speedup_note").get<std::string>().starts_with("Cold runs decide"));
  CHECK_FALSE(bench.renewed.empty());
  CHECK(warns(body, "graph_failed"));
}

TEST_CASE("where the reference goes on in a fresh process, both are staged what was filled last") {
  Bench bench;
  bench.reference = bench.session();
  bench.kernel = Bench::idling();
  auto request = bench.request(20, kHalfCapturableBytes);
  std::vector<posix::Descriptor> filled;
  request.fill = [&](std::uint32_t, std::uint32_t) -> std::variant<node::LentArena, node::Ended> {
    node::LentArena arena{.descriptor = posix::make_event(), .bytes = kHalfCapturableBytes};
    filled.push_back(arena.descriptor.duplicate());
    return arena;
  };
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  REQUIRE(bench.renewed == std::vector<bool>{true});
  CHECK(body.at("speedup").at("basis") == "cold");
  REQUIRE(filled.size() > 2);
  for (const auto& arena : filled) {
    std::uint64_t times_staged = 0;
    REQUIRE(::read(arena.get(), &times_staged, sizeof times_staged) == sizeof times_staged);
    CHECK(times_staged == 2);
  }
}

TEST_CASE("each pair of turns of a kernel that counts its launches is looked at") {
  Bench cold;
  cold.reference = cold.session();
  cold.kernel = Bench::idling();
  auto request = cold.request(96, kWanderingBytes);
  request.keeps_state = true;
  request.method = node::TimingMethod::events;
  std::optional<node::Ended> ended;
  const json body = cold.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  const int pairs = body.at("speedup").at("pairs");
  CHECK(pairs > 12);                             // more than were asked for
  CHECK(body.at("runs_examined") == pairs + 1);  // and a warm run

  Bench anew;
  anew.reference = anew.session();
  anew.kernel = Bench::idling();
  request = anew.request(96, kSlightlyLeaningBytes);
  request.keeps_state = true;
  const json told = anew.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  const json& speedup = told.at("speedup");
  constexpr int kRenewed = 4;
  constexpr int kViews = 1;
  CHECK(told.at("runs_examined") == speedup.at("pairs").get<int>() +
                                        speedup.at("by_graph").at("pairs").get<int>() + kRenewed +
                                        kViews);
}

TEST_CASE("a kernel of inout tensors is asked what it keeps after all that its ratio rests on") {
  Bench bench;
  bench.reference = bench.session();
  auto request = bench.request(2, kAskedBytes);  // of which no ratio is made without more pairs
  request.works_on_contents = true;
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.contains("shown_anew_ns"));
  CHECK(body.at("speedup").at("ratio") == 1.0);
}

TEST_CASE("graphs decide nothing where a launch works on what tensors begin with") {
  Bench bench;
  bench.reference = bench.session();
  auto request = bench.request(100, kTellingBytes);
  request.works_on_contents = true;
  request.method = node::TimingMethod::graph;
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("speedup").at("basis") == "cold");
  CHECK(body.at("speedup_note").get<std::string>().find("begin with") != std::string::npos);
}

TEST_CASE("a kernel and its reference take turns, and neither is always the first") {
  Bench bench;
  bench.reference = bench.session();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kClockBytes), ended);
  REQUIRE_FALSE(ended);
  const json& kernel = body.at("samples_ns");
  const json& reference = body.at("reference_samples_ns");
  REQUIRE(kernel.size() == reference.size());
  std::set<bool> kernel_is_first;
  for (std::size_t run = 0; run < kernel.size(); ++run) {
    kernel_is_first.insert(kernel[run].get<double>() < reference[run].get<double>());
  }
  CHECK(kernel_is_first.size() == 2);
}
