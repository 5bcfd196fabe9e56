#include "plans/held_step.h"

#include <signal.h>

#include <thread>

#include "tests/catch.h"
#include "tests/plans/scratch.h"

using assay::plans::HeldStep;
using assay::plans::Step;
using assay::plans::StepEnd;
using plans_test::host_runner;
using plans_test::Scratch;

namespace {

Step shell(const Scratch& scratch, const std::string& script) {
  return {.name = "start", .argv = {"sh", "-c", script}, .cwd = scratch.path()};
}

bool lives(int pid) { return ::kill(pid, 0) == 0; }

int pid_in(const Scratch& scratch) { return std::stoi(Scratch::read(scratch.path() / "pid")); }

// Starts a daemon as a container engine does: in a session of its own, its parent gone.
constexpr const char* kDaemon = "setsid sh -c 'echo $$ >pid; exec sleep 1000' >&2 & sleep 0.2";

}  // namespace

TEST_CASE("what a held step starts in the background lives until the step goes, and no longer") {
  const Scratch scratch;
  const auto runner = host_runner();
  int daemon = 0;
  {
    HeldStep held(runner, shell(scratch, kDaemon), scratch.path() / "started");
    const StepEnd end = held.wait_for_command({});
    CHECK(end.succeeded());
    CHECK(end.wall_ms > 0);
    CHECK(end.started_ns > 0);
    daemon = pid_in(scratch);
    CHECK(lives(daemon));
    // Other steps come and go meanwhile.
    CHECK(runner.run(shell(scratch, "true"), {}).succeeded());
    CHECK(lives(daemon));
  }
  CHECK_FALSE(lives(daemon));
}

TEST_CASE("a held step whose command fails tells its exit code and its words, and holds nothing") {
  const Scratch scratch;
  const auto runner = host_runner();
  HeldStep held(runner, shell(scratch, std::string(kDaemon) + "; echo no such image >&2; exit 125"),
                scratch.path() / "started");
  const StepEnd end = held.wait_for_command({});
  CHECK(end.why == StepEnd::Why::exited);
  CHECK(end.exit_code == 125);
  CHECK(end.tail.find("no such image") != std::string::npos);
  CHECK_FALSE(lives(pid_in(scratch)));
}

TEST_CASE("a held step that does not come about ends at its deadline and on cancellation") {
  const Scratch scratch;
  const auto runner = host_runner();
  Step step = shell(scratch, "echo $$ >pid; exec sleep 1000");
  step.timeout = std::chrono::milliseconds(300);
  HeldStep late(runner, step, scratch.path() / "started");
  CHECK(late.wait_for_command({}).why == StepEnd::Why::timed_out);
  CHECK_FALSE(lives(pid_in(scratch)));

  step.timeout = std::chrono::minutes(5);
  std::stop_source stop;
  HeldStep cancelled(runner, step, scratch.path() / "started");
  std::jthread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  CHECK(cancelled.wait_for_command(stop.get_token()).why == StepEnd::Why::cancelled);
}

TEST_CASE("a held step of a program that is not there says so") {
  const Scratch scratch;
  const auto runner = host_runner();
  HeldStep held(runner, {.name = "start", .argv = {"/no/such/engine"}, .cwd = scratch.path()},
                scratch.path() / "started");
  const StepEnd end = held.wait_for_command({});
  CHECK_FALSE(end.succeeded());
  CHECK(end.tail.find("/no/such/engine") != std::string::npos);
}
