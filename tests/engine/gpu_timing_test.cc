// The order in which a GPU is asked for times, and what becomes of a process that failed. The
// processes are real, their device is not.
#include "engine/node/gpu_timing.h"

#include <map>
#include <set>
#include <variant>

#include "tests/catch.h"
#include "tests/engine/timing_bench.h"

using namespace assay;
using namespace assay::timing_bench;

TEST_CASE("a failed graph capture is told, and what follows is asked of a fresh process") {
  // Graphs are captured behind the first turn that is looked at: the old process would have ended
  // in the next, of which there are many where a kernel has variables.
  for (const bool keeps_state : {false, true}) {
    Bench bench;
    auto request = bench.request(100);
    request.keeps_state = keeps_state;
    std::optional<node::Ended> ended;
    const json body = bench.measure(std::move(request), ended);
    REQUIRE_FALSE(ended);
    CHECK(bench.renewed == std::vector<bool>{false});
    CHECK(body.at("views").at("graph").at("unavailable") ==
          "graph capture failed: no reason, asked ahead");
    CHECK(body.at("views").at("warm").contains("median_ns"));
    CHECK(warns(body, "graph_failed"));
    CHECK(body.contains("shown_anew_ns"));
    CHECK(body.at("samples_ns").size() >= 100);
  }
}

TEST_CASE("a graph that cannot be captured any more is told, and what follows is asked anew") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kCapturedOnceBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.renewed == std::vector<bool>{false});
  CHECK(warns(body, "graph_failed"));
  CHECK(body.contains("shown_anew_ns"));
}

TEST_CASE("where no fresh process can be had, nothing more is asked of one whose capture failed") {
  Bench bench;
  auto request = bench.request(30);
  request.renew = nullptr;
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  CHECK(warns(body, "graph_failed"));
  CHECK_FALSE(body.contains("shown_anew_ns"));
  CHECK(body.at("unrepeatable") == true);
}

TEST_CASE("whose fresh process cannot be had is said") {
  Bench bench;
  auto request = bench.request(30);
  request.renew = [](bool) -> std::variant<node::KernelSession*, node::Ended> {
    return node::Ended{.verdict = job::Verdict::out_of_memory, .summary = "no memory"};
  };
  std::optional<node::Ended> ended;
  static_cast<void>(bench.measure(std::move(request), ended));
  REQUIRE(ended);
  CHECK(ended->verdict == job::Verdict::out_of_memory);
  CHECK(ended->detail.at("which") == "kernel");
}

TEST_CASE("no run begins with the contents of the one before it") {
  // The time of a run tells on what it worked (fake_timing_runner.cc).
  Bench bench;
  auto request = bench.request(400, kTellingBytes);
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  const auto content = [](const json& sample) {
    return static_cast<int>(sample.get<double>() - 10'000) % 1'000 / 100;
  };
  const json& samples = body.at("samples_ns");
  std::size_t alike = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    alike += content(samples[i]) == content(samples[i - 1]) ? 1 : 0;
  }
  // A turn begins anywhere; nothing within one tells what the referee is to look at.
  CHECK(alike <= 1);
}

TEST_CASE("three timed runs are examined, each with contents of its own, however few are timed") {
  for (const std::uint32_t trials : {1U, 2U, 3U, 10U, 100U}) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(trials, kLongBytes), ended);
    REQUIRE_FALSE(ended);
    CAPTURE(trials);
    const auto timed = static_cast<std::ptrdiff_t>(std::min(trials, 3U));
    CHECK(body.at("runs_examined") == timed);
    // And each of their contents, shown anew.
    CHECK(body.at("runs_examined_beside") == timed);
    REQUIRE(bench.judged.size() == static_cast<std::size_t>(2 * timed));
    const auto middle = bench.judged.begin() + timed;
    CHECK(std::set(bench.judged.begin(), middle).size() == static_cast<std::size_t>(timed));
    CHECK(std::set(middle, bench.judged.end()).size() == static_cast<std::size_t>(timed));
  }
}

TEST_CASE("where times are of two kinds, twelve runs more are examined") {
  const auto examined_beside = [](std::uint64_t bytes) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(100, bytes), ended);
    REQUIRE_FALSE(ended);
    CHECK(body.at("runs_examined") == 3);
    CHECK(body.at("samples_ns").size() == 100);  // which are not among those that were timed
    return body.at("runs_examined_beside").get<int>();
  };
  CHECK(examined_beside(kLongBytes) == 3);  // those that are shown anew
  CHECK(examined_beside(4096) == 3 + 3);    // and of each question that was to hold its times
  CHECK(examined_beside(kUnsteadyBytes) == 3 + 12);
}

TEST_CASE("where every timed run has left what was found right, nothing more is examined") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kUnsteadyAlikeBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("digests") == json({{"runs", 100}, {"alike", 100}}));
  CHECK(body.at("runs_examined_beside") == 3);  // those that are shown anew
  CHECK_FALSE(bench.is_doubtful);

  Bench silent;  // whose device takes no digests
  CHECK(silent.measure(silent.request(100), ended).at("digests").is_null());
}

TEST_CASE("a kernel that does nothing in some of its timed runs is told, whichever are looked at") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kSkippingBytes), ended);
  REQUIRE_FALSE(ended);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].at("check") == "did_nothing");
  CHECK(bench.findings[0].at("of") == 100);
  CHECK(bench.findings[0].at("runs").get<int>() + body.at("digests").at("alike").get<int>() == 100);
}

TEST_CASE("a kernel that leaves other bits where nobody looks is doubtful, not accused") {
  for (const bool has_reference : {false, true}) {
    Bench bench;
    if (has_reference) bench.reference = bench.session();
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(100, kSkimpingBytes), ended);
    REQUIRE_FALSE(ended);
    CHECK(bench.findings.empty());
    CHECK(warns(body, "outputs_vary"));
    CHECK(bench.is_doubtful);
    CHECK(body.at("digests").at("alike") < body.at("digests").at("runs"));
  }
}

TEST_CASE("a kernel that gives other bits now and then, and is no quicker then, is not doubtful") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kSeldomOtherwiseBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.findings.empty());
  CHECK_FALSE(bench.is_doubtful);
}

TEST_CASE("a kernel that gives other bits each time is known by those that were looked at") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kRacingBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.findings.empty());
  CHECK(body.at("digests").at("alike") == 3);
  CHECK_FALSE(bench.is_doubtful);
}

TEST_CASE("a kernel that is not shown contents anew is known to be so") {
  Bench bench;
  auto request = bench.request(10);
  request.device_bytes = 1;  // no room for other contents
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.is_doubtful);
  CHECK(warns(body, "not_shown_anew"));

  Bench usual;
  static_cast<void>(usual.measure(usual.request(10, kIdleBytes), ended));
  CHECK_FALSE(usual.is_doubtful);
}

TEST_CASE("a kernel that keeps state is examined in twelve turns of their own") {
  Bench bench;
  auto request = bench.request(100);
  request.keeps_state = true;
  std::optional<node::Ended> ended;
  CHECK(bench.measure(std::move(request), ended).at("runs_examined") == 12);
  CHECK_FALSE(ended);
  for (std::size_t i = 1; i < 12; ++i) {
    CHECK(bench.judged[i] != bench.judged[i - 1]);
  }
}

TEST_CASE("a slow kernel is timed within the time that is left, by fewer runs and views") {
  for (const bool has_reference : {false, true}) {
    for (const auto method : {node::TimingMethod::automatic, node::TimingMethod::graph}) {
      for (const auto left : {std::chrono::milliseconds(400), std::chrono::milliseconds(1500)}) {
        CAPTURE(has_reference, left);
        Bench bench;
        bench.left = left;
        if (has_reference) bench.reference = bench.session();
        auto request = bench.request(100, kSlowBytes);
        request.warmups = 10;
        request.seen_ns = 20e6;
        request.method = method;
        std::optional<node::Ended> ended;
        const json body = bench.measure(std::move(request), ended);
        if (ended) UNSCOPED_INFO(ended->summary);
        REQUIRE_FALSE(ended);
        CHECK_FALSE(body.at("samples_ns").empty());
        CHECK(warns(body, "fewer_runs"));
      }
    }
  }
}

TEST_CASE("nothing is captured where events were asked for, so nothing can fail in it") {
  Bench bench;
  auto request = bench.request(20);
  request.method = node::TimingMethod::events;
  std::optional<node::Ended> ended;
  const json body = bench.measure(std::move(request), ended);
  CHECK_FALSE(ended);
  CHECK(bench.renewed.empty());
  CHECK_FALSE(warns(body, "graph_failed"));
}

TEST_CASE("short runs that no host's clock stands behind are doubtful, long ones are held") {
  const auto measured = [](std::uint64_t bytes, std::uint32_t trials, bool is_doubtful) {
    Bench bench;
    auto request = bench.request(trials, bytes);
    request.method = node::TimingMethod::events;
    std::optional<node::Ended> ended;
    json body = bench.measure(std::move(request), ended);
    CHECK_FALSE(ended);
    CHECK(bench.is_doubtful == is_doubtful);
    CHECK(warns(body, "times_not_held") == is_doubtful);
    return body.at("wall_clock");
  };
  CHECK(measured(kIdleBytes, 20, true).at("result") == "unknown");
  // Three times as long as it says.
  CHECK(measured(kUntruthfulBytes, 4, true).at("result") == "unknown");
  const json held = measured(kSlowBytes, 2, false);
  CHECK(held.at("result") == "agrees");
  CHECK(held.at("cold_beside_ns") < 10e6);
}

TEST_CASE("as many cold runs are timed as were asked for, to the run") {
  for (const std::uint32_t trials : {1U, 7U, 20U, 100U, 101U}) {
    for (const bool keeps_state : {false, true}) {
      for (const bool has_reference : {false, true}) {
        Bench bench;
        if (has_reference) bench.reference = bench.session();
        auto request = bench.request(trials);
        request.keeps_state = keeps_state;
        std::optional<node::Ended> ended;
        const json body = bench.measure(std::move(request), ended);
        REQUIRE_FALSE(ended);
        CAPTURE(trials, keeps_state, has_reference);
        CHECK(body.at("samples_ns").size() == trials);
        if (has_reference) CHECK(body.at("reference_samples_ns").size() == trials);
        CHECK(body.at("cold_stop").at("stopped_by") == "num_trials");
      }
    }
  }
}

TEST_CASE("where nobody said how many, runs are added to a median that is known too little") {
  const auto measured = [&](std::uint64_t bytes, bool may_add, bool has_reference = false) {
    Bench bench;
    if (has_reference) bench.reference = bench.session();
    auto request = bench.request(100, bytes);
    request.may_add = may_add;
    std::optional<node::Ended> ended;
    json body = bench.measure(std::move(request), ended);
    CHECK_FALSE(ended);
    return body;
  };
  const json restless = measured(kRestlessBytes, true);
  CHECK(restless.at("samples_ns").size() == 400);
  CHECK(restless.at("cold_stop").at("stopped_by") == "budget");
  CHECK(restless.at("runs_examined") > 3);  // of those, too
  Bench counting;
  auto request = counting.request(100, kRestlessBytes);
  request.may_add = request.keeps_state = true;
  std::optional<node::Ended> ended;
  const json counted = counting.measure(std::move(request), ended);
  REQUIRE_FALSE(ended);
  CHECK(counted.at("samples_ns").size() == 400);
  CHECK(counted.at("runs_examined") >= 400 / 9);  // as often as before
  CHECK(measured(kRestlessBytes, false).at("samples_ns").size() == 100);
  CHECK(measured(kRestlessBytes, true, true).at("samples_ns").size() == 100);
  const json steady = measured(4096, true);
  CHECK(steady.at("samples_ns").size() == 100);
  CHECK(steady.at("cold_stop").at("stopped_by") == "interval");
}

TEST_CASE("runs begin with any contents in any place, and nothing tells which are examined") {
  std::set<std::vector<std::size_t>> examined;
  for (int attempt = 0; attempt < 2; ++attempt) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(100, kTellingBytes), ended);
    REQUIRE_FALSE(ended);
    std::set<int> places;
    std::map<int, int> contents;
    std::vector<std::size_t> kept;
    const json& samples = body.at("samples_ns");
    for (std::size_t run = 0; run < samples.size(); ++run) {
      const int told = static_cast<int>(samples[run].get<double>()) - 10'000;
      if (told >= 1'000) {
        kept.push_back(run);
        continue;  // its contents are chosen
      }
      places.insert(told % 100);
      ++contents[told / 100];
    }
    CHECK(places.size() > 6);
    // Each in a third of them: beside those that are examined they are drawn in any case.
    for (const int content : {0, 1, 2}) CHECK(contents[content] > 12);
    CHECK(kept.size() == 3);
    examined.insert(std::move(kept));
  }
  CHECK(examined.size() == 2);  // alike once in a hundred and sixty thousand times
}
