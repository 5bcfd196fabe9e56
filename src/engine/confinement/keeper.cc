#include "engine/confinement/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>

#include "engine/confinement/child.h"
#include "engine/confinement/filter.h"
#include "engine/confinement/identity.h"
#include "engine/confinement/init.h"
#include "engine/confinement/notices.h"
#include "engine/confinement/sweep.h"
#include "engine/confinement/wire.h"
#include "engine/confinement/worker.h"

namespace assay::confinement {
namespace {

// The keeper as it was before anything below it entered a namespace.
struct Origin {
  pid_t keeper = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

class Keeper {
 public:
  explicit Keeper(const Plan& plan) : plan_(plan) {}
  std::optional<int> run();

 private:
  [[nodiscard]] const Layers& layers() const { return plan_.confinement.layers; }
  [[nodiscard]] bool has_init() const { return has_namespaces(layers().level); }

  void prepare();
  [[nodiscard]] pid_t start();
  void run_below(const Origin& origin);
  void let_proceed();
  void resign();
  void reap_orphans() const;
  void supervise();
  void take_notices();
  void finish();
  // The worker leads a group of its own.
  [[nodiscard]] pid_t worker_group() const { return has_init() ? last_.worker_pid : below_; }

  const Plan& plan_;
  std::optional<uid_t> uid_{};
  posix::Pair line_{};
  // The init, or the worker where there is none.
  pid_t below_ = -1;
  bool leash_cut_ = false;
  std::optional<int> worker_status_{};
  StatusRecord last_{.kind = StatusRecord::Kind::ended};
};

void write_record(const StatusRecord& record) {
  static_cast<void>(::write(kStatusDescriptor, &record, sizeof record));
}

// The folders were made by a root engine for this child; their owner becomes the child's uid.
void give_folder(const std::string& path, uid_t uid) {
  const posix::Descriptor folder(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder || ::fchown(folder.get(), uid, uid) != 0) {
    throw SetupFailure("writable folder", path, errno);
  }
}

void Keeper::prepare() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "assay-keeper", 0, 0, 0);
  if (!has_pid_namespace(layers().level)) ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  line_ = make_notice_line();
  if (!layers().separate_uid) return;
  uid_ = unused_uid(::getpid());
  for (const auto& path : plan_.confinement.writable) give_folder(path, *uid_);
}

// clone() by itself, because unshare() refuses processes with threads, which some sanitizers start,
// and would leave the keeper inside. The init does not need what glibc's fork() would set right.
pid_t Keeper::start() {
  if (!has_init()) return ::fork();
  return static_cast<pid_t>(
      ::syscall(SYS_clone, namespace_flags(layers()) | SIGCHLD, nullptr, nullptr, nullptr, 0UL));
}

// In the init, then in the worker: returns with the confinement in force.
void Keeper::run_below(const Origin& origin) {
  ::close(kLeashDescriptor);
  ::close(kStatusDescriptor);
  line_.ours.reset();
  const auto& line = line_.theirs;
  try {
    const pid_t parent = has_init()
                             ? run_init(plan_.confinement, uid_, origin.uid, origin.gid, line)
                             : origin.keeper;
    const bool has_own_uid_already = has_init() && layers().user_namespace;
    confine_worker(plan_.confinement, parent, has_own_uid_already ? std::nullopt : uid_,
                   plan_.filter);
    ::close(kPlanDescriptor);
    ::prctl(PR_SET_NAME, "assay-runner", 0, 0, 0);
    send_notice(line, {.kind = Notice::Kind::confined});
  } catch (const SetupFailure& failure) {
    send_notice(line, {.kind = Notice::Kind::failed, .failure = failure.record()});
    ::_exit(1);
  } catch (const std::exception& error) {
    const SetupFailure failure("set-up", error.what(), 0);
    send_notice(line, {.kind = Notice::Kind::failed, .failure = failure.record()});
    ::_exit(1);
  }
}

void Keeper::let_proceed() {
  if (!uid_ || !has_init() || !layers().user_namespace) return;
  map_identity_of(below_, *uid_);
  send_notice(line_.ours, {.kind = Notice::Kind::proceed});
}

// Nothing of the worker's is left here: its pipes and its channel end when it does.
void Keeper::resign() {
  for (int fd = 0; fd <= kChannelDescriptor; ++fd) ::close(fd);
  ::close(kPlanDescriptor);
  line_.theirs.reset();
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void Keeper::take_notices() {
  while (const auto received = next_notice(line_.ours)) {
    const Notice& notice = received->notice;
    if (notice.kind == Notice::Kind::confined) {
      last_.worker_pid = received->sender;
      write_record({.kind = StatusRecord::Kind::started, .worker_pid = received->sender});
    } else if (notice.kind == Notice::Kind::failed) {
      last_.failed = 1;
      last_.failure = notice.failure;
    } else if (notice.kind == Notice::Kind::worker_ended) {
      worker_status_ = notice.wait_status;
    }
  }
}

// Orphans come to the keeper where there is no init: unreaped they would use up the machine's pids.
// The process below is left for finish().
void Keeper::reap_orphans() const {
  for (;;) {
    siginfo_t dead{};
    if (::waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (dead.si_pid == 0 || dead.si_pid == below_) return;
    ::waitpid(dead.si_pid, nullptr, 0);
  }
}

// Until the process below is dead: its notices are passed on, and a cut leash kills it.
void Keeper::supervise() {
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const posix::Descriptor deaths(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  const posix::Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, below_, 0U)));
  if (!pidfd) ::kill(below_, SIGKILL);  // what cannot be watched must not run
  constexpr short kNothing = 0;
  std::array<pollfd, 4> waiting{{{.fd = pidfd.get(), .events = POLLIN, .revents = kNothing},
                                 {.fd = line_.ours.get(), .events = POLLIN, .revents = kNothing},
                                 {.fd = kLeashDescriptor, .events = POLLIN, .revents = kNothing},
                                 {.fd = deaths.get(), .events = POLLIN, .revents = kNothing}}};
  while (pidfd && waiting[0].revents == 0) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) {
      take_notices();
      if ((waiting[1].revents & POLLHUP) != 0) waiting[1].fd = -1;
    }
    if (waiting[2].revents != 0) {
      leash_cut_ = true;
      ::kill(below_, SIGKILL);
      waiting[2].fd = -1;
    }
    if (waiting[3].revents != 0) {
      std::array<signalfd_siginfo, 16> seen;
      [[maybe_unused]] const auto length = ::read(deaths.get(), seen.data(), sizeof seen);
      reap_orphans();
    }
  }
}

void Keeper::finish() {
  int status = 0;
  while (::waitpid(below_, &status, 0) < 0 && errno == EINTR) {
  }
  take_notices();
  if (!has_pid_namespace(layers().level)) {
    kill_descendants({.uid = uid_, .group = keeps_session(layers()) ? worker_group() : 0});
  }
  if (!has_init()) worker_status_ = status;
  // An init that ended without a word was killed, and everything below it with it.
  last_.wait_status = worker_status_.value_or(SIGKILL);
  const bool by_sigkill = WIFSIGNALED(last_.wait_status) && WTERMSIG(last_.wait_status) == SIGKILL;
  last_.killed = leash_cut_ && by_sigkill ? 1 : 0;
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
           static_cast<std::uint64_t>(time.tv_usec);
  };
  last_.user_us = microseconds(usage.ru_utime);
  last_.system_us = microseconds(usage.ru_stime);
  last_.max_resident_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  write_record(last_);
}

std::optional<int> Keeper::run() {
  const Origin origin{.keeper = ::getpid(), .uid = ::geteuid(), .gid = ::getegid()};
  try {
    prepare();
    below_ = start();
    if (below_ < 0) throw SetupFailure("namespaces", "clone", errno);
    if (below_ == 0) {
      run_below(origin);
      return std::nullopt;
    }
    let_proceed();
  } catch (const SetupFailure& failure) {
    last_.failed = 1;
    last_.failure = failure.record();
    if (below_ > 0) ::kill(below_, SIGKILL);
  }
  resign();
  if (below_ > 0) {
    supervise();
    finish();
  } else {
    write_record(last_);
  }
  return 0;
}

}  // namespace

std::optional<int> keep(const Plan& plan) { return Keeper(plan).run(); }

void report_no_plan(const char* why) {
  write_record({.kind = StatusRecord::Kind::ended,
                .failed = 1,
                .failure = SetupFailure("plan", why, 0).record()});
}

}  // namespace assay::confinement
