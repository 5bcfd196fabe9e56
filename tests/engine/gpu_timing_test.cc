// The order in which a GPU is asked for times, and what becomes of a process that failed. The
// processes are real, their device is not.
#include "engine/node/gpu_timing.h"

#include <memory>
#include <set>

#include "engine/node/runners.h"
#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

// What fake_timing_runner.cc does with arenas of these sizes.
constexpr std::uint64_t kLeaningBytes = 8192;
constexpr std::uint64_t kRememberingBytes = 24'576;
constexpr std::uint64_t kTellingBytes = 28'672;
constexpr std::uint64_t kClockBytes = 32'768;
constexpr std::uint64_t kLongBytes = 36'864;
constexpr std::uint64_t kUnevenBytes = 40'960;
constexpr std::uint64_t kSlowBytes = 45'056;
constexpr std::uint64_t kIdlingBytes = 49'152;

struct Bench {
  const node::Runners runners{ASSAY_BINARY_FOLDER "/fake_timing_runner",
                              {.level = confinement::Level::L1},
                              node::Toolkit{}};
  node::RefereeSession referee{runners.start(node::RunnerRole::referee), "", {}};
  std::unique_ptr<node::KernelSession> kernel = session();
  std::unique_ptr<node::KernelSession> reference{};
  std::vector<bool> renewed{};          // of the reference, or of the kernel
  std::vector<std::uint32_t> judged{};  // trials
  json findings = json::array();
  std::chrono::nanoseconds left = std::chrono::seconds(60);

  std::unique_ptr<node::KernelSession> session() const {
    return std::make_unique<node::KernelSession>(runners.start(node::RunnerRole::kernel),
                                                 node::RunnerRole::gpu_kernel, "/kernel",
                                                 std::stop_token());
  }

  node::TimingRequest request(std::uint32_t trials, std::uint64_t bytes = 4096) {
    return {.trials = trials,
            .known_trials = 3,
            .arena_bytes = bytes,
            .fill = [bytes](std::uint32_t,
                            std::uint32_t) -> std::variant<node::LentArena, node::Ended> {
              return node::LentArena{.descriptor = posix::make_event(), .bytes = bytes};
            },
            .renew = [this](bool is_reference) -> std::variant<node::KernelSession*, node::Ended> {
              renewed.push_back(is_reference);
              auto& side = is_reference ? reference : kernel;
              side = session();
              return side.get();
            }};
  }

  json measure(node::TimingRequest wanted, std::optional<node::Ended>& ended) {
    node::GpuTiming timing(
        referee, *kernel, reference.get(), std::move(wanted),
        [&](std::uint32_t trial, const json& said) -> node::GpuTiming::Step {
          if (said.is_object()) {
            findings.push_back(said.at("findings").at(0));
          } else {
            judged.push_back(trial);
          }
          return std::nullopt;
        },
        left);
    json body = json::object();
    ended = timing.measure(body);
    body["unrepeatable"] = timing.is_unrepeatable();
    return body;
  }
};

bool warns(const json& body, const std::string& code) {
  for (const auto& warning : body.at("warnings")) {
    if (warning.at("code") == code) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a failed graph capture is told, and what follows is asked of a fresh process") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.renewed == std::vector<bool>{false});
  CHECK(body.at("views").at("graph").at("unavailable") == "graph capture failed: no reason");
  CHECK(body.at("views").at("warm").contains("median_ns"));
  CHECK(warns(body, "graph_failed"));
  CHECK(body.contains("shown_anew_ns"));  // asked after it: the old process would have ended
  CHECK(body.at("samples_ns").size() >= 100);
}

TEST_CASE("a kernel that is far faster on what a launch has left than on fresh tensors is told") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kLeaningBytes), ended);
  REQUIRE_FALSE(ended);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].at("check") == "leans_on_outputs");
  CHECK(bench.findings[0].at("fresh_ns") == 80'000);
  CHECK(bench.findings[0].at("repeated_ns") == 1'000);

  Bench many;  // a host that queues them one by one may take as long
  auto of_many = many.request(100, kLeaningBytes);
  of_many.launches = 20;
  static_cast<void>(many.measure(std::move(of_many), ended));
  CHECK(many.findings.empty());

  Bench meant;  // it works on what it is given
  auto request = meant.request(100, kLeaningBytes);
  request.works_on_contents = true;
  static_cast<void>(meant.measure(std::move(request), ended));
  CHECK(meant.findings.empty());
}

TEST_CASE("a kernel whose time hangs on what it works on is not accused, nor told from itself") {
  std::optional<node::Ended> ended;
  for (int again = 0; again < 10; ++again) {
    Bench bench;
    static_cast<void>(bench.measure(bench.request(100, kUnevenBytes), ended));
    REQUIRE_FALSE(ended);
    REQUIRE(bench.findings.empty());
  }
  Bench bench;
  bench.reference = bench.session();
  auto request = bench.request(100, kUnevenBytes);
  request.method = node::TimingMethod::events;
  const json body = bench.measure(std::move(request), ended);
  CHECK(body.at("samples_ns") == body.at("reference_samples_ns"));  // of the same contents each
  CHECK(body.at("speedup").at("ratio") == 1.0);
  CHECK(body.at("speedup").at("pairs") == 12);
}

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
  // What the referee is to look at has contents of its own choice, and a turn begins anywhere.
  CHECK(alike <= 12);
}

TEST_CASE("three timed runs are examined, each with contents of its own, however few are timed") {
  for (const std::uint32_t trials : {1U, 2U, 3U, 10U, 100U}) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(trials), ended);
    REQUIRE_FALSE(ended);
    CAPTURE(trials);
    CHECK(bench.judged.size() == std::min(trials, 3U));
    CHECK(std::set(bench.judged.begin(), bench.judged.end()).size() == bench.judged.size());
    CHECK(body.at("runs_examined") == std::min(trials, 3U));
  }
}

TEST_CASE("a kernel that keeps state is examined in twelve turns of their own") {
  Bench bench;
  auto request = bench.request(100);
  request.keeps_state = true;
  std::optional<node::Ended> ended;
  CHECK(bench.measure(std::move(request), ended).at("runs_examined") == 12);
  CHECK_FALSE(ended);
  for (std::size_t i = 1; i < bench.judged.size(); ++i) {
    CHECK(bench.judged[i] != bench.judged[i - 1]);
  }
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
  Bench bench;
  bench.reference = bench.session();
  const node::Runners idling{ASSAY_BINARY_FOLDER "/fake_idling_runner",
                             {.level = confinement::Level::L1},
                             node::Toolkit{}};
  bench.kernel = std::make_unique<node::KernelSession>(idling.start(node::RunnerRole::kernel),
                                                       node::RunnerRole::gpu_kernel, "/kernel",
                                                       std::stop_token());
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kIdlingBytes), ended);
  REQUIRE_FALSE(ended);
  const json& speedup = body.at("speedup");
  CHECK(speedup.at("basis") == "cold");
  CHECK(speedup.at("verdict") == "indistinguishable");
  CHECK(speedup.at("by_graph").at("verdict") == "faster");
  CHECK(body.at("speedup_note").get<std::string>().starts_with("Back to back"));
}

TEST_CASE("where graphs decide, warm runs and graphs are looked at as well") {
  Bench bench;
  bench.reference = bench.session();
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kTellingBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("speedup").at("basis") == "graph");
  CHECK(bench.judged.size() >= 5);  // three cold, one warm, one of the graph view

  Bench alone;
  static_cast<void>(alone.measure(alone.request(100, kTellingBytes), ended));
  CHECK(alone.judged.size() == 3);
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
  constexpr std::uint64_t kRestlessBytes = 12'288;  // fake_timing_runner.cc
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
  CHECK(measured(kRestlessBytes, false).at("samples_ns").size() == 100);
  CHECK(measured(kRestlessBytes, true, true).at("samples_ns").size() == 100);
  const json steady = measured(4096, true);
  CHECK(steady.at("samples_ns").size() == 100);
  CHECK(steady.at("cold_stop").at("stopped_by") == "interval");
}

TEST_CASE("events that hide work from the host's clock are evidence, honest ones are figures") {
  constexpr std::uint64_t kHidingBytes = 16'384;  // fake_timing_runner.cc
  constexpr std::uint64_t kIdleBytes = 20'480;
  std::optional<node::Ended> ended;
  Bench hiding;
  const json body = hiding.measure(hiding.request(100, kHidingBytes), ended);
  REQUIRE_FALSE(ended);
  REQUIRE(hiding.findings.size() == 1);
  CHECK(hiding.findings[0].at("check") == "wall_clock");
  CHECK(body.at("wall_clock").at("result") == "disagrees");

  Bench honest;
  const json told = honest.measure(honest.request(100, kIdleBytes), ended);
  CHECK(honest.findings.empty());
  CHECK(told.at("wall_clock").at("result") == "agrees");
  CHECK(told.at("wall_clock").at("launches") == 64);

  Bench uncaptured;
  CHECK(uncaptured.measure(uncaptured.request(100), ended).at("wall_clock").at("result") ==
        "unknown");
}

TEST_CASE("a time below what the memory takes for the outputs is evidence") {
  constexpr std::uint64_t kIdleBytes = 20'480;
  std::optional<node::Ended> ended;
  Bench bench;
  auto request = bench.request(100, kIdleBytes);
  request.floor = {.bytes = 1'000, .ns = 50'000, .must_bytes = 900, .must_ns = 45'000};
  const json body = bench.measure(std::move(request), ended);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].at("check") == "below_floor");
  CHECK(bench.findings[0].at("claimed_ns") == 10'000);
  CHECK(body.at("floor").at("ns") == 50'000);

  Bench above;
  auto meant = above.request(100, kIdleBytes);
  meant.floor = {.bytes = 1'000, .ns = 50'000};
  static_cast<void>(above.measure(std::move(meant), ended));
  CHECK(above.findings.empty());
}

TEST_CASE("the clock is looked at in the first question, and what raised it is told") {
  constexpr std::uint64_t kIdleBytes = 20'480;
  std::optional<node::Ended> ended;
  Bench bench;
  auto request = bench.request(100, kIdleBytes);
  request.seen_ns = 1'000;
  request.highest_mhz = 1'980;
  const json clocks = bench.measure(std::move(request), ended).at("clocks");
  CHECK(clocks.at("ramped_ms") == 60);  // once, and not in every question
  CHECK(clocks.at("ramped_from_mhz") == 345);

  Bench unknown;
  CHECK(unknown.measure(unknown.request(100, kIdleBytes), ended).at("clocks").at("ramped_ms") == 0);
}

TEST_CASE("a device that was busy though nobody of ours had it is told, if anybody can know") {
  constexpr std::uint64_t kIdleBytes = 20'480;
  std::optional<node::Ended> ended;
  Bench quiet;
  auto request = quiet.request(100, kIdleBytes);
  request.was_quiet = true;
  const json body = quiet.measure(std::move(request), ended);
  CHECK(body.at("neighbours").at("busy_before_pct") == 90);
  CHECK(warns(body, "co_tenants"));

  Bench busy;
  const json told = busy.measure(busy.request(100, kIdleBytes), ended);
  CHECK(told.at("neighbours").at("asked") == false);
  CHECK(told.at("neighbours").at("busy_before_pct").is_null());
  CHECK_FALSE(warns(told, "co_tenants"));

  // Its utilisation is our own, and of others nobody is named.
  Bench visible;
  auto asking = visible.request(100, kIdleBytes);
  asking.others_are_visible = true;
  const json asked = visible.measure(std::move(asking), ended);
  CHECK(asked.at("neighbours").at("asked") == true);
  CHECK(asked.at("neighbours").at("busy_before_pct").is_null());
  CHECK_FALSE(warns(asked, "co_tenants"));

  Bench burst;
  auto one_of_many = burst.request(100, kIdleBytes);
  one_of_many.others_are_visible = one_of_many.is_in_burst = true;
  CHECK(burst.measure(std::move(one_of_many), ended).at("neighbours").at("asked") == false);
}

TEST_CASE("runs begin with any contents in any place, and nothing tells which are examined") {
  std::set<std::vector<std::size_t>> examined;
  for (int attempt = 0; attempt < 2; ++attempt) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(100, kTellingBytes), ended);
    REQUIRE_FALSE(ended);
    std::set<int> places;
    std::set<int> contents;
    std::vector<std::size_t> kept;
    const json& samples = body.at("samples_ns");
    for (std::size_t run = 0; run < samples.size(); ++run) {
      const int told = static_cast<int>(samples[run].get<double>()) - 10'000;
      if (told >= 1'000) {
        kept.push_back(run);
        continue;  // its contents are chosen
      }
      places.insert(told % 100);
      contents.insert(told / 100);
    }
    CHECK(places.size() > 6);
    CHECK(contents == std::set{0, 1, 2});
    CHECK(kept.size() == 3);
    examined.insert(std::move(kept));
  }
  CHECK(examined.size() == 2);  // alike once in a hundred and sixty thousand times
}

TEST_CASE("a kernel that is slower on contents it was not shown before is told") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kRememberingBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(body.at("shown_anew_ns") == 80'000);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].at("check") == "remembers");
  CHECK(bench.findings[0].at("repeated_ns") == 5'000);
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
