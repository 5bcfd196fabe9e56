#include "engine/confinement/filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>

#include "engine/confinement/wire.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

// Stands in the program for the worker's pid, which the engine cannot know.
constexpr std::uint32_t kOwnPid = 0x5eed71d5;
// Beyond the newest call that this list was made with, a call is new and unknown: "not
// implemented".
constexpr int kFirstUnknownCall = 452;
constexpr int kLastUnknownCall = 547;

// Kernel interfaces with a long record of exploits, other processes, the machine's configuration.
constexpr const char* kRefused[] = {
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease",
    "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "tkill", "setpriority", "sched_setscheduler", "sched_setparam",
    "sched_setattr", "ioprio_set", "migrate_pages", "move_pages", "get_robust_list",
    // mounts, roots, namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "open_tree", "mount_setattr", "unshare", "setns", "open_by_handle_at",
    "name_to_handle_at",
    // risky kernel interfaces
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "fanotify_init", "fanotify_mark",
    "lookup_dcookie", "vmsplice", "remap_file_pages", "modify_ldt", "memfd_secret", "uselib",
    "ustat", "sysfs", "nfsservctl",
    // the machine
    "init_module", "finit_module", "delete_module", "create_module", "kexec_load",
    "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "settimeofday", "stime", "clock_settime", "clock_settime64", "clock_adjtime", "clock_adjtime64",
    "adjtimex", "sethostname", "setdomainname", "syslog", "iopl", "ioperm", "vhangup", "_sysctl",
    // System V IPC and message queues: shared by all processes of an ipc namespace
    "shmget", "shmat", "shmctl", "shmdt", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop",
    "semtimedop", "semctl", "mq_open", "mq_unlink"};

// Reaching somebody else's socket.
constexpr const char* kMeetingCalls[] = {"connect", "accept", "accept4", "sendmmsg"};

constexpr const char* kProcessCalls[] = {"fork", "vfork", "execve", "execveat"};
constexpr const char* kSocketCalls[] = {"socket", "bind", "listen"};

constexpr std::uint64_t kNamespaceFlags[] = {CLONE_NEWUSER,  CLONE_NEWPID, CLONE_NEWNET,
                                             CLONE_NEWIPC,   CLONE_NEWNS,  CLONE_NEWUTS,
                                             CLONE_NEWCGROUP};

// Collects the rules of one program.
class Rules {
 public:
  Rules() : context_(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release) {
    if (!context_) throw std::runtime_error("seccomp_init failed");
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree, not a list: some 90 calls are compared
    set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
  }

  void refuse(const char* call) { add(call, EPERM, {}); }
  void refuse(const char* call, scmp_arg_cmp when) { add(call, EPERM, {&when, 1}); }
  void not_implemented(const char* call) { add(call, ENOSYS, {}); }
  void pretend(const char* call) { add(call, 0, {}); }

  void not_implemented_beyond_the_known() {
    for (int number = kFirstUnknownCall; number <= kLastUnknownCall; ++number) {
      check(seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(ENOSYS), number, 0, nullptr),
            "a call of a newer kernel");
    }
  }

  [[nodiscard]] std::size_t calls() const { return calls_.size(); }

  [[nodiscard]] std::string program() const {
    posix::Descriptor file(::memfd_create("filter", MFD_CLOEXEC));
    if (!file) throw std::runtime_error("memfd_create failed");
    check(seccomp_export_bpf(context_.get(), file.get()), "seccomp_export_bpf");
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (::pread(file.get(), bytes.data(), bytes.size(), 0) != size) {
      throw std::runtime_error("the system call filter cannot be read back");
    }
    return bytes;
  }

 private:
  static void check(int result, const char* what) {
    if (result != 0) {
      throw std::runtime_error(std::string("system call filter: ") + what + ": " +
                               std::strerror(-result));
    }
  }

  void set(scmp_filter_attr attribute, std::uint32_t value) {
    check(seccomp_attr_set(context_.get(), attribute, value), "attribute");
  }

  // A call that this architecture does not have needs no rule.
  void add(const char* call, int error, std::span<const scmp_arg_cmp> when) {
    const int number = seccomp_syscall_resolve_name(call);
    if (number < 0) return;
    calls_.insert(number);
    check(seccomp_rule_add_array(context_.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)),
                                 number, static_cast<unsigned>(when.size()), when.data()),
          call);
  }

  std::unique_ptr<void, decltype(&seccomp_release)> context_;
  std::set<int> calls_{};
};

scmp_arg_cmp compare(unsigned argument, scmp_compare how, std::uint64_t a, std::uint64_t b = 0) {
  return {.arg = argument, .op = how, .datum_a = a, .datum_b = b};
}

void add_process_rules(Rules& rules, const FilterShape& shape) {
  // glibc falls back to clone, whose flags can be seen here; those of clone3 are behind a pointer.
  rules.not_implemented("clone3");
  for (const auto flag : kNamespaceFlags) {
    rules.refuse("clone", compare(0, SCMP_CMP_MASKED_EQ, flag, flag));
  }
  if (!shape.may_start_processes) {
    for (const char* call : kProcessCalls) rules.refuse(call);
    rules.refuse("clone", compare(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  }
  if (shape.keep_session) {
    for (const char* call : {"setsid", "setpgid"}) rules.pretend(call);
  }
  rules.refuse("prlimit64", compare(0, SCMP_CMP_NE, 0));
  rules.refuse("sched_setaffinity", compare(0, SCMP_CMP_NE, 0));
  // Legacy personalities switch address randomisation and page protection off.
  rules.refuse("personality", compare(0, SCMP_CMP_NE, 0));
  if (shape.own_signals_only) {
    rules.refuse("kill", compare(0, SCMP_CMP_NE, kOwnPid));
    rules.refuse("tgkill", compare(0, SCMP_CMP_NE, kOwnPid));
  }
}

void add_socket_rules(Rules& rules, const FilterShape& shape) {
  if (shape.profile != Profile::gpu) {
    for (const char* call : kSocketCalls) rules.refuse(call);
    // asyncio and multiprocessing of Python talk to themselves through a pair.
    if (!shape.may_start_processes) rules.refuse("socketpair");
    return;
  }
  // cuInit binds an abstract SOCK_SEQPACKET socket and listens; it need not reach anybody.
  constexpr std::uint64_t kTypeMask = 0xf;
  rules.refuse("socket", compare(0, SCMP_CMP_NE, AF_UNIX));
  if (shape.is_company) return;
  for (const std::uint64_t type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW}) {
    rules.refuse("socket", compare(1, SCMP_CMP_MASKED_EQ, kTypeMask, type));
  }
}

Rules rules_of(const FilterShape& shape) {
  Rules rules;
  for (const char* call : kRefused) rules.refuse(call);
  if (!shape.is_company) {
    for (const char* call : kMeetingCalls) rules.refuse(call);
  }
  add_process_rules(rules, shape);
  add_socket_rules(rules, shape);
  // Typing into a terminal that the engine may share.
  constexpr std::uint64_t kWord = 0xffffffff;
  rules.refuse("ioctl", compare(1, SCMP_CMP_MASKED_EQ, kWord, TIOCSTI));
  rules.refuse("ioctl", compare(1, SCMP_CMP_MASKED_EQ, kWord, TIOCLINUX));
  if (shape.refuse_truncate) rules.refuse("truncate");
  rules.not_implemented_beyond_the_known();
  return rules;
}

std::size_t index_of(const FilterShape& shape) {
  return static_cast<std::size_t>(shape.profile) * 32 + (shape.is_company ? 16U : 0U) +
         (shape.keep_session ? 8U : 0U) + (shape.may_start_processes ? 4U : 0U) +
         (shape.refuse_truncate ? 2U : 0U) + (shape.own_signals_only ? 1U : 0U);
}

}  // namespace

FilterShape filter_shape(const Confinement& confinement, int landlock_abi) {
  const Layers& layers = confinement.layers;
  const int abi = layers.landlock ? landlock_abi : 0;
  return {.profile = confinement.profile,
          .may_start_processes = confinement.may_start_processes,
          .is_company = confinement.is_company && has_pid_namespace(layers.level),
          .refuse_truncate = abi < 3,
          .own_signals_only = abi < 6 && !has_pid_namespace(layers.level) && !layers.separate_uid,
          .keep_session = keeps_session(layers)};
}

const std::string& filter_program(const FilterShape& shape) {
  // A pure function's values, remembered: building one takes half a millisecond.
  static std::array<std::string, 96> programs;
  static std::array<std::once_flag, 96> built;
  const std::size_t index = index_of(shape);
  std::call_once(built[index], [&] { programs[index] = rules_of(shape).program(); });
  return programs[index];
}

std::size_t refused_calls(const FilterShape& shape) { return rules_of(shape).calls(); }

void install_filter(std::string program) {
  const std::size_t count = program.size() / sizeof(sock_filter);
  std::unique_ptr<sock_filter[]> instructions(new sock_filter[count]);
  std::memcpy(instructions.get(), program.data(), count * sizeof(sock_filter));
  for (auto& instruction : std::span(instructions.get(), count)) {
    if (BPF_CLASS(instruction.code) == BPF_JMP && instruction.k == kOwnPid) {
      instruction.k = static_cast<std::uint32_t>(::getpid());
    }
  }
  sock_fprog whole{.len = static_cast<unsigned short>(count), .filter = instructions.get()};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole, 0, 0) != 0) {
    throw SetupFailure("system call filter", "prctl(PR_SET_SECCOMP)", errno);
  }
}

}  // namespace assay::confinement
