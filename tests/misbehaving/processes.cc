#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

[[noreturn]] void sleep_for_ever() {
  for (;;) ::pause();
}

// Never more than --most=N (400) alive, so that a confinement that fails the test costs no machine.
int fork_bomb(const Options& options) {
  const auto most = options.number("most", 400);
  std::uint64_t made = 0;
  for (; made < most; ++made) {
    const pid_t child = ::fork();
    if (child == 0) sleep_for_ever();
    if (child < 0) break;
  }
  announce("forked " + std::to_string(made) + (made < most ? std::strerror(errno) : ""));
  sleep_for_ever();
}

// Leaves its session, its process group and its parent, and survives what a terminal would send.
int daemon(const Options&) {
  const pid_t child = ::fork();
  if (child < 0) return 3;
  if (child > 0) return 0;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) ::signal(signal, SIG_IGN);
  announce("daemon");
  sleep_for_ever();
}

// Processes that fork and exit without end, each life too short to be found by its number.
int pid_hopper(const Options& options) {
  const auto chains = options.number("chains", 8);
  for (std::uint64_t i = 0; i < chains;) {
    const pid_t child = ::fork();
    // The chains there are have used up the limit for the moment: their dead are yet to be reaped.
    if (child < 0 && errno != EAGAIN) return 3;
    if (child < 0) ::usleep(500);
    if (child > 0) ++i;
    if (child != 0) continue;
    ::setsid();
    for (;;) {
      const pid_t next = ::fork();
      if (next > 0) ::_exit(0);
      if (next < 0) ::usleep(500);
    }
  }
  announce("hopping");
  sleep_for_ever();
}

constexpr Misdeed kProcesses[] = {
    {"fork_bomb", "forks until it is refused, at most --most=N times", fork_bomb},
    {"daemon", "leaves a daemon behind and exits", daemon},
    {"pid_hopper", "keeps --chains=N processes hopping from pid to pid", pid_hopper},
};

}  // namespace

std::span<const Misdeed> processes() { return kProcesses; }

}  // namespace assay::misbehaving
