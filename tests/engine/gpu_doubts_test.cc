// What speaks against times that a GPU gave: clocks that disagree, outputs that are there already,
// contents not shown before, company. The processes are real, their device is not.
#include "tests/catch.h"
#include "tests/engine/timing_bench.h"

using namespace assay;
using namespace assay::timing_bench;

namespace {

json findings_of(std::uint64_t bytes) {
  Bench bench;
  std::optional<node::Ended> ended;
  static_cast<void>(bench.measure(bench.request(100, bytes), ended));
  REQUIRE_FALSE(ended);
  return bench.findings;
}

// Not accused, and not trusted either: the warning says why.
json doubted(Bench& bench, std::uint64_t bytes, const char* code) {
  std::optional<node::Ended> ended;
  json body = bench.measure(bench.request(100, bytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.findings.empty());
  CHECK(bench.is_doubtful);
  CHECK(warns(body, code));
  return body;
}

}  // namespace

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

TEST_CASE("who is quick in a graph, and not on what a launch has left, is doubtful, not accused") {
  Bench bench;
  const json body = doubted(bench, kCapriciousBytes, "quick_in_graph");
  CHECK(body.at("views").at("graph").at("median_ns") == 1'000);
}

TEST_CASE("who cannot be asked again what its graph saves is doubtful, and not accused") {
  Bench bench;
  static_cast<void>(doubted(bench, kCapturedOnceBytes, "quick_in_graph"));
  CHECK(bench.renewed == std::vector<bool>{false});  // nothing more is asked of that process
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

TEST_CASE("events that hide work from the host's clock are evidence, honest ones are figures") {
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

TEST_CASE(
    "of few runs none may have been on the contents that take long: a graph's are no evidence") {
  for (int i = 0; i < 8; ++i) {
    Bench bench;
    std::optional<node::Ended> ended;
    const json body = bench.measure(bench.request(1, kSeldomSlowBytes), ended);
    REQUIRE_FALSE(ended);
    CHECK(body.contains("wall_clock"));
    CHECK(bench.findings.empty());
  }
}

TEST_CASE("a time below what the memory takes for the outputs is evidence") {
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

TEST_CASE("who has become slow altogether is doubtful, and not accused of what it keeps") {
  Bench bench;
  static_cast<void>(doubted(bench, kWearyBytes, "not_shown_anew"));
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

TEST_CASE("a host that is late for one question accuses nobody") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kDisturbedBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.findings.empty());
  CHECK(body.at("shown_anew_ns") == 5'000);
}

TEST_CASE("a host that is late for all questions of a kind, and later for none, accuses nobody") {
  Bench bench;
  std::optional<node::Ended> ended;
  const json body = bench.measure(bench.request(100, kDisturbedLongBytes), ended);
  REQUIRE_FALSE(ended);
  CHECK(bench.findings.empty());
  CHECK_FALSE(bench.is_doubtful);
  CHECK(body.at("shown_anew_ns") == 5'000);
}

TEST_CASE("contents that cost a little more when they are new are told from scatter") {
  Bench bench;
  std::optional<node::Ended> ended;
  auto request = bench.request(100, kSlightlyRememberingBytes);
  request.leaves_memory = true;
  static_cast<void>(bench.measure(std::move(request), ended));
  REQUIRE_FALSE(ended);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.renewed.empty());  // nobody is asked again what is told already
  CHECK(bench.findings[0].at("check") == "remembers");
  CHECK(bench.findings[0].at("repeated_ns").get<double>() < 6'000);

  Bench scattering;
  static_cast<void>(scattering.measure(scattering.request(100, kScatteringBytes), ended));
  REQUIRE_FALSE(ended);
  CHECK(scattering.findings.empty());
}

TEST_CASE("a kernel that keeps some of its contents is told, one that is quick on some is not") {
  const json cramped = findings_of(kCrampedBytes);
  REQUIRE(cramped.size() == 1);
  CHECK(cramped[0].at("check") == "remembers");
  CHECK(cramped[0].at("repeated_ns") == 5'000);
  CHECK(findings_of(kChoosyBytes).empty());
}

TEST_CASE("a kernel that finds what it kept in some runs only is told, one that is fickle is not") {
  const json forgetful = findings_of(kForgetfulBytes);
  REQUIRE(forgetful.size() == 1);
  CHECK(forgetful[0].at("check") == "remembers");
  CHECK(forgetful[0].at("repeated_ns") < 80'000);  // or half of that, by its medians
  CHECK(forgetful[0].at("shown_anew_ns") == 80'000);
  CHECK(findings_of(kFickleBytes).empty());
}

TEST_CASE("few runs that were quick by chance accuse nobody, whatever the next ones are") {
  for (std::uint32_t trials = 1; trials <= 9; ++trials) {
    CAPTURE(trials);
    for (int again = 0; again < 8; ++again) {
      Bench bench;
      std::optional<node::Ended> ended;
      static_cast<void>(bench.measure(bench.request(trials, kFickleBytes), ended));
      REQUIRE_FALSE(ended);
      INFO(bench.findings.dump());
      CHECK(bench.findings.empty());
    }
  }
}

TEST_CASE("quick runs on contents whose answers nobody knows leave a kernel doubtful") {
  Bench bench;
  auto request = bench.request(100, kKeepsThirdBytes);
  request.known_trials = 2;
  std::optional<node::Ended> ended;
  static_cast<void>(bench.measure(std::move(request), ended));
  REQUIRE_FALSE(ended);
  CHECK(bench.findings.empty());
  CHECK(bench.is_doubtful);

  const json known = findings_of(kKeepsThirdBytes);
  REQUIRE(known.size() == 1);
  CHECK(known[0].at("check") == "remembers");
}

TEST_CASE("a kernel whose quick runs do not come again is doubtful at least") {
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::optional<node::Ended> ended;
    Bench patient;
    static_cast<void>(patient.measure(patient.request(200, kPatientBytes), ended));
    REQUIRE_FALSE(ended);
    CHECK((patient.is_doubtful || !patient.findings.empty()));
  }
}

TEST_CASE("a kernel that is quick from a certain launch on is told, however late that comes") {
  std::optional<node::Ended> ended;
  Bench ripening;
  static_cast<void>(ripening.measure(ripening.request(200, kRipeningBytes), ended));
  REQUIRE_FALSE(ended);
  REQUIRE(ripening.findings.size() == 1);
  CHECK(ripening.findings[0].at("check") == "remembers");
}

TEST_CASE("a short kernel that begins to keep results after some launches is told") {
  Bench bench;
  std::optional<node::Ended> ended;
  (void)bench.measure(bench.request(100, kBrieflyPatientBytes), ended);
  REQUIRE_FALSE(ended);
  REQUIRE(bench.findings.size() == 1);
  CHECK(bench.findings[0].at("check") == "remembers");
  CHECK(bench.findings[0].at("repeated_ns") == 3'300);
  CHECK(bench.findings[0].at("shown_anew_ns") == 5'500);
}

TEST_CASE("what only the end of a process empties is looked for in a fresh one") {
  const auto measured = [](bool leaves_memory) {
    Bench bench;
    auto request = bench.request(100, kHeapBytes);
    request.leaves_memory = leaves_memory;
    std::optional<node::Ended> ended;
    static_cast<void>(bench.measure(std::move(request), ended));
    REQUIRE_FALSE(ended);
    return std::pair(bench.findings, bench.renewed.size());
  };
  CHECK(measured(false) == std::pair(json::array(), std::size_t{0}));
  const auto [findings, processes] = measured(true);
  CHECK(processes == 3);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].at("check") == "remembers");
  CHECK(findings[0].at("shown_anew_ns") == 80'000);
}
