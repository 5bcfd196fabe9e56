// The rules of the quarantine as a table, the guard before a device with a canary of the test's
// own, and the canary itself on the emulator.
#include "engine/node/quarantine.h"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "engine/confinement/isolation.h"
#include "engine/node/canary.h"
#include "engine/node/device_guard.h"
#include "engine/node/devices.h"
#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;
using node::DeviceCondition;
using node::DeviceGuard;
using node::Quarantine;

namespace {

const auto kNow = Quarantine::Clock::time_point{} + 1h;

Quarantine in(DeviceCondition condition) {
  Quarantine quarantine;
  if (condition == DeviceCondition::trusted) quarantine.canary_right();
  if (condition > DeviceCondition::trusted) quarantine.runner_failed("it failed");
  if (condition == DeviceCondition::quarantined) quarantine.canary_wrong("it lies", kNow);
  REQUIRE(quarantine.condition() == condition);
  return quarantine;
}

enum class Event { runner_failed, canary_right, canary_wrong };

DeviceCondition after(DeviceCondition condition, Event event) {
  Quarantine quarantine = in(condition);
  if (event == Event::runner_failed) quarantine.runner_failed("again");
  if (event == Event::canary_right) quarantine.canary_right();
  if (event == Event::canary_wrong) quarantine.canary_wrong("again", kNow);
  return quarantine.condition();
}

}  // namespace

TEST_CASE("a canary that had no turn on a device says nothing of it") {
  DeviceGuard guard([](const std::stop_token&) { return std::optional<std::string>(); });
  CHECK(guard.may_use({}));
  CHECK(guard.told().at("condition") == "unproved");
}

TEST_CASE("the rules of the quarantine are those of its table") {
  using enum DeviceCondition;
  struct Row {
    DeviceCondition before, failed, right, wrong;
  };
  for (const Row& row :
       {Row{unproved, doubtful, trusted, quarantined}, Row{trusted, doubtful, trusted, quarantined},
        Row{doubtful, doubtful, trusted, quarantined},
        Row{quarantined, quarantined, trusted, quarantined}}) {
    INFO(node::name(row.before));
    CHECK(after(row.before, Event::runner_failed) == row.failed);
    CHECK(after(row.before, Event::canary_right) == row.right);
    CHECK(after(row.before, Event::canary_wrong) == row.wrong);
  }
}

TEST_CASE("a device in doubt is asked at once, one shut away ever more rarely") {
  CHECK(Quarantine().wants_canary(kNow));  // never proved
  CHECK_FALSE(in(DeviceCondition::trusted).wants_canary(kNow));
  CHECK(in(DeviceCondition::doubtful).wants_canary(kNow));
  Quarantine quarantine = in(DeviceCondition::quarantined);
  CHECK_FALSE(quarantine.wants_canary(kNow));
  auto now = kNow;
  auto pause = 0s;
  for (int attempt = 0; attempt < 12; ++attempt) {
    auto waited = 0s;
    while (!quarantine.wants_canary(now + waited)) waited += 1s;
    CHECK(waited >= pause);
    CHECK(waited <= 300s);
    pause = waited;
    now += waited;
    quarantine.canary_wrong("still", now);
  }
  CHECK(pause == 300s);
  // One that was let out and fails again begins anew.
  quarantine.canary_right();
  quarantine.runner_failed("once more");
  quarantine.canary_wrong("once more", now);
  CHECK(quarantine.wants_canary(now + 5s));
}

TEST_CASE("the quarantine tells its condition and its reason, and nothing of what is over") {
  Quarantine quarantine = in(DeviceCondition::quarantined);
  CHECK(quarantine.told() == nlohmann::json{{"condition", "quarantined"},
                                            {"why", "it lies"},
                                            {"canaries", 1},
                                            {"canaries_wrong", 1}});
  quarantine.canary_right();
  CHECK(quarantine.told().at("condition") == "trusted");
  CHECK(quarantine.told().at("why").is_null());
}

TEST_CASE("a device is proved before its first use, and again once something speaks against it") {
  int canaries = 0;
  DeviceGuard guard([&](const std::stop_token&) {
    ++canaries;
    return std::string();
  });
  CHECK(guard.may_use({}));
  CHECK(guard.may_use({}));
  CHECK(canaries == 1);
  guard.runner_failed("a context could not be made");
  CHECK(guard.may_use({}));
  CHECK(guard.may_use({}));
  CHECK(canaries == 2);
}

TEST_CASE("a device whose canary is wrong is skipped, without asking it again at once") {
  int canaries = 0;
  DeviceGuard guard([&](const std::stop_token&) {
    ++canaries;
    return std::string("cuInit: no device");
  });
  guard.runner_failed("lost");
  CHECK_FALSE(guard.may_use({}));
  CHECK_FALSE(guard.may_use({}));
  CHECK(canaries == 1);
  CHECK(guard.why() == "cuInit: no device");
}

TEST_CASE("jobs that come at once wait for one canary") {
  std::atomic<int> canaries = 0;
  constexpr int kJobs = 8;
  std::latch begun(kJobs);
  DeviceGuard guard([&](const std::stop_token&) {
    ++canaries;
    begun.wait();  // all have asked, or are about to
    return std::string();
  });
  guard.runner_failed("lost");
  std::atomic<int> allowed = 0;
  {
    std::vector<std::jthread> jobs;
    for (int i = 0; i < kJobs; ++i) {
      jobs.emplace_back([&] {
        begun.count_down();
        allowed += guard.may_use({}) ? 1 : 0;
      });
    }
  }
  CHECK(canaries == 1);
  CHECK(allowed == kJobs);
}

TEST_CASE("a canary that was stopped says nothing of the device") {
  std::stop_source source;
  int canaries = 0;
  DeviceGuard guard([&](const std::stop_token& stop) {
    ++canaries;
    if (canaries == 1) source.request_stop();
    return stop.stop_requested() ? std::string("stopped") : std::string();
  });
  guard.runner_failed("lost");
  CHECK_FALSE(guard.may_use(source.get_token()));
  CHECK(guard.told().at("condition") == "doubtful");
  CHECK(guard.may_use({}));
}

TEST_CASE("a job that waits for another's canary hears that it is cancelled") {
  std::latch begun(1);
  std::latch may_end(1);
  DeviceGuard guard([&](const std::stop_token&) {
    begun.count_down();
    may_end.wait();  // it waits for the device, behind a long job
    return std::string();
  });
  std::atomic<bool> first = false;
  std::jthread asks_first([&] { first = guard.may_use({}); });
  begun.wait();
  std::atomic<bool> second = true;
  std::jthread waits([&](const std::stop_token& stop) { second = guard.may_use(stop); });
  waits.request_stop();
  waits.join();
  CHECK_FALSE(second);
  may_end.count_down();
  asks_first.join();
  CHECK(first);
  CHECK(guard.may_use({}));
}

TEST_CASE("a canary that could not even be sent leaves the next to try") {
  int canaries = 0;
  DeviceGuard guard([&](const std::stop_token&) -> std::string {
    if (++canaries == 1) throw std::runtime_error("no process can be made");
    return {};
  });
  CHECK_THROWS_AS(guard.may_use({}), std::runtime_error);
  CHECK(guard.may_use({}));
  CHECK(canaries == 2);
}

TEST_CASE("only what no kernel does speaks against a device") {
  using job::Verdict;
  for (const Verdict verdict :
       {Verdict::passed, Verdict::compile_failed, Verdict::contract_invalid, Verdict::launch_failed,
        Verdict::wrong_output, Verdict::crashed, Verdict::timed_out, Verdict::out_of_memory,
        Verdict::unsupported, Verdict::cancelled}) {
    INFO(job::name(verdict));
    CHECK_FALSE(node::speaks_against_device({.verdict = verdict}));
    CHECK(node::speaks_against_device(
        {.verdict = verdict, .body = {{"detail", {{"left_running", true}}}}}));
  }
  CHECK(node::speaks_against_device({.verdict = Verdict::engine_fault}));
  // Killed from outside: an operator's doing.
  CHECK_FALSE(node::speaks_against_device({.verdict = Verdict::engine_fault, .interrupted = true}));
}

TEST_CASE("the canary passes on a device that works, and names what does not") {
  const auto runner = [](const char* role, const char* executable) {
    return std::make_unique<node::RunnerProcess>(
        confinement::SpawnRequest{.executable = executable,
                                  .arguments = {std::string("--role=") + role},
                                  .confinement = {.layers = {.level = confinement::Level::L1},
                                                  .profile = confinement::Profile::cpu}},
        node::RunnerLimits{});
  };
  constexpr const char* kRunner = ASSAY_BINARY_FOLDER "/assay-runner";
  CHECK(node::run_canary(runner("kernel", kRunner), node::RunnerRole::kernel, {}).empty());
  // A process that dies, one that answers nonsense, one that says what is no driver's doing.
  for (const char* misdeed : {"segfault", "exit_at_once", "deep_json"}) {
    INFO(misdeed);
    CHECK_FALSE(node::run_canary(runner(misdeed, ASSAY_MISBEHAVING_RUNNER),
                                 node::RunnerRole::gpu_kernel, {})
                    .empty());
  }
}
