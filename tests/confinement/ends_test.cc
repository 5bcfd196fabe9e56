#include <csignal>
#include <stdexcept>
#include <system_error>

#include "tests/catch.h"
#include "tests/confinement/fixture.h"

namespace assay::confinement {
namespace {

End end_of(const std::string& role, const Layers& layers, std::vector<std::string> more = {}) {
  Running running(role, {.layers = layers}, std::move(more));
  return running.reap();
}

}  // namespace

TEST_CASE("how a worker ended is told exactly at every level") {
  auto all = possible_layers();
  all.push_back({.level = Level::L0});
  for (const auto& layers : all) {
    INFO(name_of(layers));
    const auto check = [&](const char* role, int signal, int code,
                           std::vector<std::string> more = {}) {
      INFO(role);
      const End end = end_of(role, layers, std::move(more));
      CHECK(end.gone);
      CHECK(end.clean_record);
      CHECK(end.setup_failure.empty());
      CHECK_FALSE(end.killed);
      CHECK(end.signal == signal);
      CHECK(end.exit_code == code);
    };
    check("exit_at_once", 0, 0);
    check("exit_at_once", 0, 77, {"--code=77"});
    check("exit_at_once", 0, 139, {"--code=139"});
    check("segfault", SIGSEGV, 0);
    check("abort", SIGABRT, 0);
    check("kill_itself", SIGKILL, 0);
    check("terminate_itself", SIGTERM, 0);
    check("bad_instruction", SIGILL, 0);
  }
}

TEST_CASE("a killed child is told apart from one that killed itself") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    for (const char* role : {"hang", "ignore_sigterm", "spin", "close_everything"}) {
      INFO(role);
      Running running(role, {.layers = layers});
      REQUIRE(running.worker() > 0);
      const auto before = Clock::now();
      running.child.kill();
      running.child.kill();
      const End end = running.reap();
      CHECK(Clock::now() - before < 2s);
      CHECK(end.gone);
      CHECK(end.clean_record);
      CHECK(end.killed);
      CHECK(end.signal == SIGKILL);
      CHECK(all_gone(running.marker, 0ms));
    }
  }
}

TEST_CASE("a deadline that passes is no end, and the child can be reaped later") {
  Running running("hang", {});
  const End early = running.reap(30ms);
  CHECK_FALSE(early.gone);
  running.child.kill();
  const End late = running.reap();
  CHECK(late.gone);
  CHECK(late.killed);
  CHECK(running.reap().killed);
}

TEST_CASE("the worker's processor time and memory are reported") {
  // Ended by what it used, not by a clock on the wall: a busy machine gives it less of that.
  Confinement confinement{};
  confinement.limits.cpu_seconds = 1;
  Running running("spin", confinement);
  REQUIRE(running.first_line() == "spinning");
  const End end = running.reap();
  CHECK(end.usage.user_time > 30ms);
  CHECK(end.usage.user_time < 10s);
  CHECK(end.usage.max_resident_bytes > 100'000);
}

TEST_CASE("the processor time limit ends a worker that spins") {
  Confinement confinement{};
  confinement.limits.cpu_seconds = 1;
  Running running("spin", confinement);
  const End end = running.reap();
  CHECK((end.signal == SIGXCPU || end.signal == SIGKILL));
  CHECK_FALSE(end.killed);
}

TEST_CASE("a layer that cannot be put in force keeps the role from running") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    Running running("flood_stdout", {.layers = layers, .readable = {"/nonexistent/toolkit"}});
    const End end = running.reap();
    CHECK(end.gone);
    CHECK_THAT(end.setup_failure,
               Catch::Contains("/nonexistent/toolkit") && Catch::Contains("No such file"));
    CHECK(running.first_line() == "");
    CHECK_FALSE(running.child.worker_pid());
  }
}

TEST_CASE("a confinement that no child could have is refused before anything is spawned") {
  const auto attempt = [](Layers layers) {
    return spawn({.executable = ASSAY_MISBEHAVING_RUNNER, .confinement = {.layers = layers}});
  };
  CHECK_THROWS_AS(attempt({.level = Level::L3}), std::invalid_argument);
  CHECK_THROWS_AS(attempt({.level = Level::L1u}), std::invalid_argument);
  CHECK_THROWS_AS(attempt({.level = Level::L1, .landlock = false}), std::invalid_argument);
  CHECK_THROWS_AS(spawn({.executable = "/nonexistent/runner"}), std::system_error);
}

TEST_CASE("a dropped child is killed and reaped") {
  std::string marker;
  {
    Running running("ignore_sigterm", {.layers = possible_layers().front()});
    marker = running.marker;
    REQUIRE(running.first_line() == "ignoring");
    CHECK_FALSE(processes_with(marker).empty());
  }
  CHECK(processes_with(marker).empty());
}

TEST_CASE("the channel ends when the worker closes it, though the worker lives on") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    Running running("close_channel", {.layers = layers});
    CHECK(running.first_line() == "closed");
    char byte = 0;
    CHECK(::read(running.channel.get(), &byte, 1) == 0);
    running.child.read_status();
    CHECK_FALSE(running.child.ended());
    running.child.kill();
    CHECK(running.reap().killed);
  }
}

}  // namespace assay::confinement
