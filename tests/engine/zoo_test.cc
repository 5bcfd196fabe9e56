// The engine's watch over runners that do one bad thing each: whatever they do, ask() returns in
// time, says how it ended, and leaves nothing running.
#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>

#include "engine/confinement/isolation.h"
#include "engine/node/runner_process.h"
#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;
using confinement::Layers;
using confinement::Level;
using node::RunnerEnd;
using node::RunnerProcess;
using Why = RunnerEnd::Why;
using Clock = std::chrono::steady_clock;

namespace {

// The level that this machine gives and L1, which every machine gives.
std::vector<Layers> levels() {
  const auto best = confinement::best_available({.runner = ASSAY_MISBEHAVING_RUNNER});
  std::vector<Layers> found{{.level = confinement::Level::L1}};
  if (best.layers.level != confinement::Level::L1) found.push_back(best.layers);
  return found;
}

confinement::SpawnRequest misdeed(const std::string& role, const Layers& layers,
                                  const std::string& option = "") {
  confinement::SpawnRequest request{
      .executable = ASSAY_MISBEHAVING_RUNNER,
      .arguments = {"--role=" + role},
      .confinement = {.layers = layers, .profile = confinement::Profile::cpu}};
  if (!option.empty()) request.arguments.push_back(option);
  return request;
}

std::set<int> children() {
  std::set<int> pids;
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (int pid = 0; file >> pid;) pids.insert(pid);
  return pids;
}

struct Expected {
  const char* role;
  Why why;
  int signal = 0;
};

RunnerEnd end_of(confinement::SpawnRequest request, Clock::duration limit,
                 node::RunnerLimits limits = {}) {
  RunnerProcess runner(std::move(request), limits);
  frames::Frame question;
  question.body = {{"type", "question"}};
  auto reply = runner.ask(std::move(question), Clock::now() + limit, {});
  REQUIRE(std::holds_alternative<RunnerEnd>(reply));
  return std::get<RunnerEnd>(reply);
}

}  // namespace

TEST_CASE("every death, silence and lie of a runner has its name, at every level") {
  const Expected zoo[] = {
      {"exit_at_once", Why::exited},
      {"segfault", Why::exited, SIGSEGV},
      {"abort", Why::exited, SIGABRT},
      {"kill_itself", Why::exited, SIGKILL},
      {"terminate_itself", Why::exited, SIGTERM},
      {"bad_instruction", Why::exited, SIGILL},
      {"crash_when_asked", Why::exited, SIGABRT},
      {"hang", Why::timed_out},
      {"ignore_sigterm", Why::timed_out},
      {"spin", Why::timed_out},
      {"close_channel", Why::malformed},
      {"garbage_frames", Why::malformed},
      {"oversize_header", Why::malformed},
      {"frame_of_no_json", Why::malformed},
      {"flood_stdout", Why::output_flood},
      {"flood_stderr", Why::output_flood},
  };
  for (const Layers& layers : levels()) {
    for (const Expected& one : zoo) {
      INFO(one.role << " at " << confinement::to_text(layers.level));
      const auto before = children();
      const auto start = Clock::now();
      const RunnerEnd end =
          end_of(misdeed(one.role, layers), one.why == Why::timed_out ? 300ms : 20s);
      CHECK(std::string(node::name(end.why)) == node::name(one.why));
#ifndef ASSAY_SANITIZED  // a sanitizer turns a fatal signal into an exit code of its own
      CHECK(end.signal == one.signal);
#endif
      CHECK(Clock::now() - start < 15s);
      CHECK(children() == before);
    }
  }
}

TEST_CASE("a runner that ends inside a frame is malformed or dead, never believed") {
  for (const Layers& layers : levels()) {
    for (const char* role : {"truncated_frame", "truncated_header"}) {
      INFO(role);
      const RunnerEnd end = end_of(misdeed(role, layers), 5s);
      CHECK((end.why == Why::malformed || end.why == Why::exited));
    }
  }
}

TEST_CASE("nested JSON of a runner costs no stack of the engine's") {
  for (const Layers& layers : levels()) {
    RunnerProcess runner(misdeed("deep_json", layers), {});
    frames::Frame question;
    question.body = {{"type", "question"}};
    auto reply = runner.ask(std::move(question), Clock::now() + 10s, {});
    if (const auto* end = std::get_if<RunnerEnd>(&reply)) {
      CHECK((end->why == Why::malformed || end->why == Why::exited));
    }
  }
}

TEST_CASE("a memory bomb is ended near its limit, whatever kind of memory it takes") {
  for (const Layers& layers : levels()) {
    for (const char* role : {"memory_anonymous", "memory_shared", "memory_memfd"}) {
      INFO(role << " at " << confinement::to_text(layers.level));
      auto request = misdeed(role, layers, "--bytes=4000000000");
      request.confinement.limits.data_bytes = 8ULL << 30;
      request.confinement.limits.file_bytes = 8ULL << 30;
      const RunnerEnd end = end_of(std::move(request), 60s, {.resident_bytes = 256U << 20});
      CHECK(std::string(node::name(end.why)) == "memory_exceeded");
    }
  }
}

TEST_CASE("what a runner leaves behind dies with it") {
  for (Layers layers : levels()) {
    // The kernel limits the tasks of root nowhere, so a root engine gives a child its own uid.
    if (::geteuid() == 0 && layers.level == Level::L1) layers = {Level::L1u, true};
    for (const char* role : {"daemon", "fork_bomb", "pid_hopper"}) {
      INFO(role << " at " << confinement::to_text(layers.level));
      const auto before = children();
      auto request = misdeed(role, layers);
      request.confinement.may_start_processes = true;
      request.confinement.limits.tasks = 64;
      RunnerProcess runner(std::move(request), {});
      frames::Frame question;
      question.body = {{"type", "question"}};
      auto reply = runner.ask(std::move(question), Clock::now() + 1s, {});
      CHECK(std::holds_alternative<RunnerEnd>(reply));
      CHECK(children() == before);
    }
  }
}

TEST_CASE("cancelling ends a runner at once") {
  for (const Layers& layers : levels()) {
    RunnerProcess runner(misdeed("hang", layers), {});
    std::stop_source source;
    std::jthread canceller([&] {
      std::this_thread::sleep_for(50ms);
      source.request_stop();
    });
    const auto start = Clock::now();
    auto reply = runner.ask({}, Clock::now() + 60s, source.get_token());
    REQUIRE(std::holds_alternative<RunnerEnd>(reply));
    CHECK(std::get<RunnerEnd>(reply).why == Why::cancelled);
    CHECK(Clock::now() - start < 5s);
    // Asked again, it says the same.
    auto again = runner.ask({}, Clock::now() + 60s, {});
    CHECK(std::get<RunnerEnd>(again).why == Why::cancelled);
  }
}

TEST_CASE("a runner whose confinement cannot be put in force never runs and is our fault") {
  auto request = misdeed("exit_at_once", {.level = confinement::Level::L1});
  request.confinement.readable.push_back("/no/such/folder");
  const RunnerEnd end = end_of(std::move(request), 10s);
  CHECK(std::string(node::name(end.why)) == "setup_failed");
  CHECK(end.detail.find("/no/such/folder") != std::string::npos);
}

TEST_CASE("the last words of a dead runner are kept") {
  const RunnerEnd end = end_of(misdeed("hang_loudly", {.level = confinement::Level::L1}), 1s);
  CHECK(end.why == Why::timed_out);
  CHECK_FALSE(end.output.empty());
}

TEST_CASE("a runner that is ended is dead when that returns, however it resists") {
  for (const Layers& layers : levels()) {
    for (const char* role : {"hang", "ignore_sigterm"}) {
      INFO(role);
      const auto before = children();
      RunnerProcess runner(misdeed(role, layers), {});
      CHECK(runner.end());
      CHECK(children() == before);
      CHECK(runner.end());
      frames::Frame question;
      question.body = {{"type", "question"}};
      const auto reply = runner.ask(std::move(question), Clock::now() + 10s, {});
      REQUIRE(std::holds_alternative<RunnerEnd>(reply));
      CHECK_FALSE(std::get<RunnerEnd>(reply).left_running);
    }
  }
}
