#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "engine/confinement/process_tree.h"
#include "tests/catch.h"
#include "tests/confinement/fixture.h"

namespace assay::confinement {
namespace {

// Who they are, whose children, and where in the kernel they wait.
std::string describe(const std::vector<pid_t>& processes) {
  std::string all;
  for (const pid_t pid : processes) {
    for (const char* name : {"stat", "wchan", "syscall"}) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
      all.append(std::istreambuf_iterator<char>(file), {}).append("\n");
    }
  }
  return all;
}

// The tests start nothing else: what is left of a child has its marker in the command line. What is
// left by mistake stays for ever, so that patience costs nothing and forgives a slow machine only.
void check_nothing_left(const std::string& marker) {
  const bool gone = all_gone(marker, 20s);
  INFO("left: " << (gone ? "nothing" : describe(processes_with(marker))));
  CHECK(gone);
  for (const pid_t pid : processes_with(marker)) ::kill(pid, SIGKILL);
}

}  // namespace

TEST_CASE("processes that leave their parent and their session die with the child") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    Running daemon("daemon", with_processes(layers));
    const End end = daemon.reap();
    CHECK(end.gone);
    CHECK(end.exit_code == 0);
    CHECK(processes_with(daemon.marker).empty());

    Running hopper("pid_hopper", with_processes(layers));
    REQUIRE(hopper.first_line() == "hopping");
    std::this_thread::sleep_for(20ms);
    hopper.child.kill();
    CHECK(hopper.reap().killed);
    CHECK(processes_with(hopper.marker).empty());
  }
}

TEST_CASE("the dead are reaped while the worker lives, so that they use up no pids") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    if (::geteuid() == 0 && !layers.separate_uid) continue;  // root has no limit to run into
    Running hopper("pid_hopper", with_processes(layers, 40));
    REQUIRE(hopper.first_line() == "hopping");
    std::this_thread::sleep_for(200ms);
    // The dead count as tasks: unreaped, they would have stopped the hopping by now.
    const auto before = descendants(hopper.child.pid());
    std::this_thread::sleep_for(100ms);
    CHECK(descendants(hopper.child.pid()) != before);
    hopper.child.kill();
    CHECK(hopper.reap().gone);
  }
}

TEST_CASE("a fork bomb stops at its limit and is swept away") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    // Root itself is not limited by the kernel: a root engine gives its children uids of their own.
    if (::geteuid() == 0 && !layers.separate_uid) continue;
    Running bomb("fork_bomb", with_processes(layers, 40), {"--most=2000"});
    const std::string said = bomb.first_line();
    CHECK_THAT(said, Catch::Contains("Resource temporarily unavailable"));
    bomb.child.kill();
    CHECK(bomb.reap().killed);
    CHECK(processes_with(bomb.marker).empty());
  }
}

TEST_CASE("without the right to start processes there are none") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    Running bomb("fork_bomb", {.layers = layers});
    CHECK_THAT(bomb.first_line(), Catch::Contains("forked 0Operation not permitted"));
    bomb.child.kill();
    CHECK(bomb.reap().gone);
  }
}

TEST_CASE("nothing is left when keeper, init or worker is killed at any moment") {
  std::mt19937 random(20260721);
  const auto all = possible_layers();
  for (int round = 0; round < 200; ++round) {
    const Layers& layers = all[random() % all.size()];
    INFO("round " << round << ", " << name_of(layers));
    Running running("hang", {.layers = layers});
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    auto victims = descendants(running.child.pid());
    victims.push_back(running.child.pid());
    const pid_t victim = victims[random() % victims.size()];
    const bool keeper = victim == running.child.pid();
    ::kill(victim, SIGKILL);
    const End end = running.reap();
    CHECK(end.gone);
    CHECK(end.clean_record == !keeper);
    if (!keeper) CHECK((end.signal == SIGKILL || !end.setup_failure.empty()));
    CHECK_FALSE(end.killed);
    check_nothing_left(running.marker);
  }
}

TEST_CASE("nothing is left when the leash is cut at any moment") {
  std::mt19937 random(7);
  const auto all = possible_layers();
  for (int round = 0; round < 100; ++round) {
    const Layers& layers = all[random() % all.size()];
    INFO("round " << round << ", " << name_of(layers));
    Running running("ignore_sigterm", with_processes(layers));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 6000));
    running.child.kill();
    const End end = running.reap();
    CHECK(end.gone);
    CHECK(end.clean_record);
    CHECK(end.killed);
    CHECK(processes_with(running.marker).empty());
  }
}

TEST_CASE("the death of the engine is the death of its children") {
  for (const auto& layers : possible_layers()) {
    INFO(name_of(layers));
    const std::string marker = unique_marker();
    auto hopping = posix::make_pipe();
    auto ignoring = posix::make_pipe();
    const pid_t engine = ::fork();
    if (engine == 0) {
      ::alarm(60);
      const auto start = [&](const char* role, Confinement confinement, posix::Descriptor output) {
        return spawn({.executable = ASSAY_MISBEHAVING_RUNNER,
                      .arguments = {role, "--chains=2", marker},
                      .confinement = std::move(confinement),
                      .standard_output = std::move(output)});
      };
      const auto first =
          start("--role=pid_hopper", with_processes(layers), std::move(hopping.theirs));
      const auto second =
          start("--role=ignore_sigterm", {.layers = layers}, std::move(ignoring.theirs));
      for (;;) ::pause();
    }
    hopping.theirs.reset();
    ignoring.theirs.reset();
    CHECK(first_line_of(hopping.ours) == "hopping");
    CHECK(first_line_of(ignoring.ours) == "ignoring");
    ::kill(engine, SIGKILL);
    ::waitpid(engine, nullptr, 0);
    check_nothing_left(marker);
  }
}

TEST_CASE("a child outlives the thread that started it") {
  std::optional<Running> running;
  std::thread([&] { running.emplace("hang_loudly", Confinement{}); }).join();
  CHECK(running->first_line() == "hanging");
  std::this_thread::sleep_for(50ms);
  running->child.read_status();
  CHECK_FALSE(running->child.ended());
}

}  // namespace assay::confinement
