// Children for the tests: started, watched, and searched for afterwards.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/confinement/child.h"
#include "engine/confinement/isolation.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline std::string name_of(const Layers& layers) {
  return std::string(to_text(layers.level)) + (layers.separate_uid ? ", separate uid" : "") +
         (layers.user_namespace ? "" : ", no user namespace");
}

// All layers that this machine can put in force, strongest first.
inline std::vector<Layers> possible_layers() {
  std::vector<Layers> wanted;
  const bool root = ::geteuid() == 0;
  for (const Level level : {Level::L2, Level::L1n}) {
    if (root) wanted.push_back({.level = level, .separate_uid = true});
    if (root) wanted.push_back({.level = level, .separate_uid = true, .user_namespace = false});
    wanted.push_back({.level = level});
  }
  if (root) wanted.push_back({.level = Level::L1u, .separate_uid = true});
  wanted.push_back({.level = Level::L1});
  std::erase_if(wanted, [](const Layers& layers) {
    auto child = spawn({.executable = ASSAY_MISBEHAVING_RUNNER,
                        .arguments = {"--role=exit_at_once"},
                        .confinement = {.layers = layers}});
    return !child.reap(Clock::now() + 5s).setup_failure.empty();
  });
  return wanted;
}

// Every process that was started with this argument, by its command line.
inline std::vector<pid_t> processes_with(const std::string& argument) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    // getline() takes a process that vanishes for the end of the file; other readers throw.
    for (std::string word; std::getline(file, word, '\0');) {
      if (word == argument) found.push_back(std::stoi(name));
    }
  }
  return found;
}

inline bool all_gone(const std::string& argument, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!processes_with(argument).empty()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

inline std::string unique_marker() {
  static int count = 0;
  return "--marker=" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

// The first line that a child prints, or what there is of it at its end or after a while.
inline std::string first_line_of(const posix::Descriptor& output) {
  const auto deadline = Clock::now() + 20s;
  std::string line;
  char byte = 0;
  pollfd waiting{.fd = output.get(), .events = POLLIN, .revents = 0};
  while (Clock::now() < deadline) {
    if (::poll(&waiting, 1, 50) <= 0) continue;
    if (::read(output.get(), &byte, 1) != 1 || byte == '\n') break;
    line += byte;
  }
  return line;
}

// A misbehaving child with its standard output to be read.
struct Running {
  std::string marker = unique_marker();
  posix::Descriptor output{};
  posix::Descriptor channel{};
  Child child;

  Running(const std::string& role, Confinement confinement, std::vector<std::string> more = {})
      : child(start(role, std::move(confinement), std::move(more))) {}

  [[nodiscard]] std::string first_line() const { return first_line_of(output); }

  [[nodiscard]] pid_t worker() {
    const auto deadline = Clock::now() + 10s;
    while (!child.worker_pid() && !child.ended() && Clock::now() < deadline) {
      pollfd waiting{.fd = child.status().get(), .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, 100);
      child.read_status();
    }
    return child.worker_pid().value_or(-1);
  }

  [[nodiscard]] End reap(std::chrono::milliseconds patience = 20s) {
    return child.reap(Clock::now() + patience);
  }

 private:
  Child start(const std::string& role, Confinement confinement, std::vector<std::string> more) {
    auto pipe = posix::make_pipe();
    auto line = posix::make_socket_pair();
    output = std::move(pipe.ours);
    channel = std::move(line.ours);
    more.insert(more.begin(), {"--role=" + role, marker});
    return spawn({.executable = ASSAY_MISBEHAVING_RUNNER,
                  .arguments = std::move(more),
                  .confinement = std::move(confinement),
                  .channel = std::move(line.theirs),
                  .standard_output = std::move(pipe.theirs)});
  }
};

// A confinement that leaves the right to start processes, which the stricter ones take away.
inline Confinement with_processes(const Layers& layers, std::uint64_t tasks = 64) {
  Confinement confinement{.layers = layers, .may_start_processes = true};
  confinement.limits.tasks = tasks;
  return confinement;
}

// Calls `body` in a forked copy of the test, whose return value comes back as the exit code.
template <typename Body>
int in_a_process(const Body& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {  // must not unwind into the copy of the test: 99 says it
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace assay::confinement
