#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "engine/confinement/attacks.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

// In a pid namespace of our own, a supervisor that is PID 1 of its container has the number of our
// init.
bool is_one_of_us(pid_t pid) { return ::getppid() == 1 && pid <= ::getpid(); }

int attempt_on_supervisor(const Targets& targets, int (*attempt)(pid_t)) {
  return is_one_of_us(targets.supervisor) ? ESRCH : attempt(targets.supervisor);
}

std::string proc_file(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

int read_file(const std::string& path) {
  const posix::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  char byte = 0;
  const auto length = ::read(file.get(), &byte, 1);
  if (length < 0) return errno;
  return length == 1 ? 0 : ENODATA;
}

int read_environment(const Targets& targets) {
  return attempt_on_supervisor(targets,
                               [](pid_t pid) { return read_file(proc_file(pid, "environ")); });
}

int read_command_line(const Targets& targets) {
  return attempt_on_supervisor(targets,
                               [](pid_t pid) { return read_file(proc_file(pid, "cmdline")); });
}

int inherit_environment(const Targets& targets) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto& known = targets.environment;
    if (std::find(known.begin(), known.end(), text.substr(0, text.find('='))) == known.end()) {
      return 0;
    }
  }
  return ENOENT;
}

// More than an init and ourselves is somebody else.
int list_processes(const Targets&) {
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc", error);
  int processes = 0;
  while (!error && entries != std::filesystem::directory_iterator()) {
    const std::string name = entries->path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos) ++processes;
    entries.increment(error);
  }
  if (error) return error.value();
  return processes > 2 ? 0 : ENOENT;
}

int signal_supervisor(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) { return stopped_by(::kill(pid, 0)); });
}

// It runs already: to be continued does nothing to it. The right needed is that of SIGSTOP.
int stop_supervisor(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) { return stopped_by(::kill(pid, SIGCONT)); });
}

int offer_supervisor_to_the_oom_killer(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) {
    const posix::Descriptor file(
        ::open(proc_file(pid, "oom_score_adj").c_str(), O_WRONLY | O_CLOEXEC));
    return file ? 0 : errno;
  });
}

int limit_supervisor(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) {
    rlimit limit{};
    return stopped_by(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit));
  });
}

int pin_supervisor(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) {
    cpu_set_t processors;
    if (::sched_getaffinity(pid, sizeof processors, &processors) != 0) return errno;
    return stopped_by(::sched_setaffinity(pid, sizeof processors, &processors));
  });
}

int trace_supervisor(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) {
    if (::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) != 0) return errno;
    ::ptrace(PTRACE_DETACH, pid, nullptr, nullptr);
    return 0;
  });
}

int read_supervisor_memory(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) {
    char bytes[8] = {};
    const iovec ours{.iov_base = bytes, .iov_len = sizeof bytes};
    // An address that is nobody's: the right is checked first.
    const iovec theirs{.iov_base = reinterpret_cast<void*>(0x1000), .iov_len = sizeof bytes};
    const auto length = ::process_vm_readv(pid, &ours, 1, &theirs, 1, 0);
    return length >= 0 || errno == EFAULT ? 0 : errno;
  });
}

int reopen_supervisor_descriptors(const Targets& targets) {
  return attempt_on_supervisor(targets, [](pid_t pid) {
    int error = ENOENT;
    for (int fd = 0; fd < 16; ++fd) {
      const std::string path = proc_file(pid, "fd/") + std::to_string(fd);
      const posix::Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
      if (file) return 0;
      if (errno != ENOENT) error = errno;
    }
    return error;
  });
}

// Beyond the channel there may be O_PATH descriptors, with which nothing can be read or written.
int use_inherited_descriptors(const Targets&) {
  constexpr int kFirst = 4;
  for (int fd = kFirst; fd < 1024; ++fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) == 0) return 0;
  }
  return EBADF;
}

int fork_process(const Targets&) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return 0;
}

// Nothing is there to be executed; whether the call is refused before that is the question.
int execute_program(const Targets&) {
  char name[] = "nothing";
  char* const arguments[] = {name, nullptr};
  ::execv("/nonexistent/nothing", arguments);
  return errno == ENOENT ? 0 : errno;
}

constexpr AttackKind kAttacks[] = {
    {"read_inherited_environment", inherit_environment},
    {"read_supervisor_environment", read_environment},
    {"read_supervisor_command_line", read_command_line},
    {"list_processes", list_processes},
    {"signal_supervisor", signal_supervisor},
    {"stop_supervisor", stop_supervisor},
    {"raise_supervisor_oom_score", offer_supervisor_to_the_oom_killer},
    {"change_supervisor_limits", limit_supervisor},
    {"pin_supervisor_to_a_cpu", pin_supervisor},
    {"trace_supervisor", trace_supervisor},
    {"read_supervisor_memory", read_supervisor_memory},
    {"reopen_supervisor_descriptors", reopen_supervisor_descriptors},
    {"use_inherited_descriptors", use_inherited_descriptors},
    {"fork", fork_process},
    {"execute", execute_program},
};

}  // namespace

std::span<const AttackKind> attacks_on_processes() { return kAttacks; }

int stopped_by(long result) { return result >= 0 ? 0 : errno; }

}  // namespace assay::confinement
