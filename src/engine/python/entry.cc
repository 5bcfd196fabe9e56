// What the zygote in Python cannot do in Python: become a confined child. A shared library beside
// assay-runner, loaded by assay_runner/zygote.py with ctypes; one function, C's own types.
//
// Trusted code, single-threaded, called before a byte of the user's is read.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "engine/confinement/enter.h"

// Forks the caller for confinement::finish_spawn(): in the zygote the new process's pid, or -1; in
// the new process 0, with every layer in force. The descriptors are those of a Handover and stay
// the caller's. The keeper and the init never return from here.
extern "C" __attribute__((visibility("default"))) int assay_fork_confined(
    const int* descriptors, int descriptor_count, const char* const* environment, int entry_count) {
  // By itself, because fork() cannot make the new process our parent's child. The keeper needs
  // nothing that glibc's fork() would set right, and forks again.
  const auto pid =
      static_cast<pid_t>(::syscall(SYS_clone, static_cast<unsigned long>(CLONE_PARENT | SIGCHLD),
                                   nullptr, nullptr, nullptr, 0UL));
  if (pid != 0) return pid;
  std::vector<assay::posix::Descriptor> handed;
  for (int i = 0; i < descriptor_count; ++i) handed.emplace_back(descriptors[i]);
  const std::vector<std::string> entries(environment, environment + entry_count);
  if (const auto done = assay::confinement::enter_confinement_forked(std::move(handed), entries)) {
    ::_exit(*done);
  }
  return 0;
}
