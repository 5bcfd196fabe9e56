#include <signal.h>

#include <thread>

#include "plans/step_runner.h"
#include "tests/catch.h"
#include "tests/plans/scratch.h"

using assay::plans::Step;
using assay::plans::StepEnd;
using plans_test::host_runner;
using plans_test::Scratch;

namespace {

Step shell(const Scratch& scratch, const std::string& script) {
  return {.name = "command", .argv = {"sh", "-c", script}, .cwd = scratch.path()};
}

bool lives(int pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("a step's exit code, streams and folder are told") {
  const Scratch scratch;
  Step step = shell(scratch, "pwd; echo oops >&2; exit 3");
  step.log = scratch.path() / "step.log";
  const StepEnd end = host_runner().run(step, {});
  CHECK(end.why == StepEnd::Why::exited);
  CHECK(end.exit_code == 3);
  CHECK(end.standard_output == std::filesystem::canonical(scratch.path()).string() + "\n");
  CHECK(end.tail.find("oops") != std::string::npos);
  CHECK(Scratch::read(step.log).find("oops") != std::string::npos);
  CHECK(describe(end) == "exit code 3");
  CHECK(end.started_ns > 0);
}

TEST_CASE("a step has the caller's environment, and its own over it") {
  const Scratch scratch;
  Step step = shell(scratch, "printf '%s|%s' \"$PATH\" \"$OURS\"");
  step.environment["OURS"] = "a b'c";
  const StepEnd end = host_runner().run(step, {});
  CHECK(end.standard_output == std::string(std::getenv("PATH")) + "|a b'c");
}

TEST_CASE("a step on the host has a folder for temporary files") {
  const Scratch scratch;
  CHECK(host_runner()
            .run(shell(scratch, "test -d \"$TMPDIR\" && test -d \"$HOME\""), {})
            .succeeded());
}

TEST_CASE("a missing program is the machine's failure, not an exit code") {
  const Scratch scratch;
  const StepEnd end =
      host_runner().run({.name = "x", .argv = {"/no/such/program"}, .cwd = scratch.path()}, {});
  CHECK(end.why == StepEnd::Why::not_started);
  CHECK(end.is_infrastructure());
  CHECK(end.detail.find("No such file") != std::string::npos);
  const StepEnd nowhere =
      host_runner().run({.name = "x", .argv = {"true"}, .cwd = "/no/such/folder"}, {});
  CHECK(nowhere.why == StepEnd::Why::not_started);
  // A program of the user's may well exit with 127: that is its own word.
  const StepEnd own = host_runner().run(shell(scratch, "exit 127"), {});
  CHECK(own.why == StepEnd::Why::exited);
  CHECK(own.exit_code == 127);
}

TEST_CASE("a signal is told as a signal") {
  const Scratch scratch;
  const StepEnd end = host_runner().run(shell(scratch, "kill -SEGV $$"), {});
  CHECK(end.signal == SIGSEGV);
  CHECK_FALSE(end.succeeded());
  CHECK(describe(end) == "killed by SIGSEGV (11)");
}

TEST_CASE("the deadline kills daemons that left the process group") {
  const Scratch scratch;
  Step step = shell(scratch,
                    "setsid sh -c 'echo $$ > daemon; exec sleep 600' & "
                    "while [ ! -s daemon ]; do sleep 0.01; done; sleep 600");
  step.timeout = std::chrono::milliseconds(1500);
  const StepEnd end = host_runner().run(step, {});
  CHECK(end.why == StepEnd::Why::timed_out);
  CHECK_FALSE(lives(std::stoi(Scratch::read(scratch.path() / "daemon"))));
}

TEST_CASE("what a step left running is killed when it ends") {
  const Scratch scratch;
  Step step = shell(scratch,
                    "setsid sh -c 'echo $$ > daemon; exec sleep 600' & "
                    "while [ ! -s daemon ]; do sleep 0.01; done; exit 0");
  const StepEnd end = host_runner().run(step, {});
  CHECK(end.succeeded());
  CHECK_FALSE(lives(std::stoi(Scratch::read(scratch.path() / "daemon"))));
}

TEST_CASE("a stop cancels a step that would run for ever") {
  const Scratch scratch;
  std::stop_source source;
  const Step step = shell(scratch, "echo up > up; sleep 600");
  std::jthread stopper([&] {
    while (!std::filesystem::exists(scratch.path() / "up")) std::this_thread::yield();
    source.request_stop();
  });
  CHECK(host_runner().run(step, source.get_token()).why == StepEnd::Why::cancelled);
}

TEST_CASE("the log of a step is bounded, and says that it was cut") {
  const Scratch scratch;
  Step step = shell(scratch, "head -c 20000000 /dev/zero; echo the-end >&2");
  step.log = scratch.path() / "step.log";
  const StepEnd end = host_runner().run(step, {});
  CHECK(end.succeeded());
  CHECK(end.output_bytes == 20'000'008);
  CHECK(end.log_is_cut);
  CHECK(std::filesystem::file_size(step.log) == assay::plans::kLogBytes);
  CHECK(end.standard_output.size() == assay::plans::kKeptOutputBytes);
  CHECK(end.tail.ends_with("the-end\n"));
}

TEST_CASE("a flood ends the step") {
  const Scratch scratch;
  CHECK(host_runner().run(shell(scratch, "cat /dev/zero"), {}).why == StepEnd::Why::output_flood);
}

TEST_CASE("a log that is a symbolic link is not followed") {
  const Scratch scratch;
  scratch.write("precious", "mine");
  std::filesystem::create_symlink(scratch.path() / "precious", scratch.path() / "step.log");
  Step step = shell(scratch, "echo overwritten");
  step.log = scratch.path() / "step.log";
  const StepEnd end = host_runner().run(step, {});
  CHECK(end.succeeded());
  CHECK(Scratch::read(scratch.path() / "precious") == "mine");
  CHECK_FALSE(end.detail.empty());
}

TEST_CASE("a repro line survives a shell") {
  const Scratch scratch;
  Step step{.name = "x",
            .argv = {"printf", "%s\n", "a b", "it's", "$HOME", "", "new\nline", "*"},
            .cwd = scratch.path(),
            .environment = {{"K", "v w"}}};
  const StepEnd direct = host_runner().run(step, {});
  const StepEnd pasted = host_runner().run(shell(scratch, repro_line(step)), {});
  CHECK(direct.succeeded());
  CHECK(pasted.standard_output == direct.standard_output);
}

TEST_CASE("printable() keeps UTF-8 and replaces what is none") {
  CHECK(assay::plans::printable("aé€𝄞") == "aé€𝄞");
  CHECK(assay::plans::printable("\xff\xc0\x80\xed\xa0\x80 ok\xe2\x82") ==
        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD ok\xEF\xBF\xBD"
        "\xEF\xBF\xBD");
}
