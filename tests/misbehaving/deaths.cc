#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/misbehaving/misdeeds.h"

namespace assay::misbehaving {
namespace {

// With the default action: sanitizers install handlers of their own.
int die_of(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  return 1;
}

int exit_at_once(const Options& options) { ::_exit(static_cast<int>(options.number("code", 0))); }

// Into a page that may not be written: a null pointer would be caught by a sanitizer before the
// processor sees it.
int segfault(const Options&) {
  ::signal(SIGSEGV, SIG_DFL);
  void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile int*>(page) = 1;
  return 1;
}

int abort_itself(const Options&) {
  ::signal(SIGABRT, SIG_DFL);
  std::abort();
}

int kill_itself(const Options&) { return die_of(SIGKILL); }
int terminate_itself(const Options&) { return die_of(SIGTERM); }
int bad_instruction(const Options&) { return die_of(SIGILL); }

constexpr Misdeed kDeaths[] = {
    {"exit_at_once", "exits without a word; --code=N", exit_at_once},
    {"segfault", "writes where it may not", segfault},
    {"abort", "calls abort()", abort_itself},
    {"kill_itself", "dies of its own SIGKILL", kill_itself},
    {"terminate_itself", "dies of its own SIGTERM, which a PID 1 would survive", terminate_itself},
    {"bad_instruction", "dies of SIGILL", bad_instruction},
};

}  // namespace

std::span<const Misdeed> deaths() { return kDeaths; }

}  // namespace assay::misbehaving
