#include "engine/confinement/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "engine/confinement/enter.h"
#include "engine/confinement/filter.h"
#include "engine/confinement/landlock.h"
#include "engine/confinement/plan.h"
#include "engine/confinement/wire.h"

namespace assay::confinement {
namespace {

using Clock = std::chrono::steady_clock;

// The order of Handover::descriptors.
static_assert(kChannelDescriptor == 3 && kLeashDescriptor == 4 && kStatusDescriptor == 5 &&
              kPlanDescriptor == 6 && kHandedDescriptors == 6);

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

posix::Descriptor pidfd_of(pid_t pid) {
  return posix::Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0U)));
}

void require_possible(const Layers& layers) {
  if (layers.level == Level::L3) throw std::invalid_argument("level L3 is not provided");
  if (layers.level == Level::L1u && !layers.separate_uid) {
    throw std::invalid_argument("level L1u is a separate uid");
  }
  if (!layers.landlock && layers.level != Level::L0 && !has_namespaces(layers.level)) {
    throw std::invalid_argument("without namespaces, files are kept from a child by Landlock only");
  }
}

// What posix_spawn is told, freed on every path.
class SpawnActions {
 public:
  SpawnActions() {
    check(::posix_spawn_file_actions_init(&files_), "posix_spawn");
    const int error = ::posix_spawnattr_init(&attributes_);
    if (error != 0) ::posix_spawn_file_actions_destroy(&files_);
    check(error, "posix_spawn");
  }
  ~SpawnActions() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  // The sources lie above all targets, so that no target overwrites a source.
  void pass(const posix::Descriptor& from, int as) {
    constexpr int kAboveTargets = 64;
    if (!from) {
      check(::posix_spawn_file_actions_addopen(&files_, as, "/dev/null", O_RDWR, 0), "posix_spawn");
      return;
    }
    const int copy = ::fcntl(from.get(), F_DUPFD_CLOEXEC, kAboveTargets);
    if (copy < 0) check(errno, "descriptor for a child");
    copies_.emplace_back(copy);
    check(::posix_spawn_file_actions_adddup2(&files_, copy, as), "posix_spawn");
  }

  [[nodiscard]] pid_t spawn(const std::string& executable, char* const* arguments,
                            char* const* environment) {
    check(::posix_spawn_file_actions_addclosefrom_np(&files_, kPlanDescriptor + 1), "posix_spawn");
    // A session of its own: an interrupt typed at the engine's terminal is the engine's to handle.
    // No signal blocked or ignored, whatever the engine does with them.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    check(::posix_spawnattr_setsigmask(&attributes_, &none), "posix_spawn");
    check(::posix_spawnattr_setsigdefault(&attributes_, &all), "posix_spawn");
    check(::posix_spawnattr_setflags(
              &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID),
          "posix_spawn");
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, executable.c_str(), &files_, &attributes_, arguments, environment);
    if (error != 0) throw std::system_error(error, std::generic_category(), executable);
    return pid;
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
  std::vector<posix::Descriptor> copies_{};
};

std::vector<std::string> environment_of(const SpawnRequest& request) {
  const std::string folder = temporary_folder(request.confinement);
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=" + folder,
                                       "TMPDIR=" + folder};
#ifdef ASSAY_SANITIZED
  // The leak check of AddressSanitizer traces itself, ThreadSanitizer minds threads after fork().
  environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  environment.emplace_back("TSAN_OPTIONS=die_after_fork=0");
#endif
  for (const auto& variable : request.environment) {
    const std::string prefix = variable.first + "=";
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(prefix); });
    environment.push_back(prefix + variable.second);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

bool wait_readable(const posix::Descriptor& descriptor, Clock::time_point deadline) {
  pollfd waiting{.fd = descriptor.get(), .events = POLLIN, .revents = 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
    const int ready = ::poll(&waiting, 1, timeout);
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

End end_from(const StatusRecord& record) {
  End end;
  end.clean_record = true;
  if (WIFSIGNALED(record.wait_status)) {
    end.signal = WTERMSIG(record.wait_status);
  } else {
    end.exit_code = WEXITSTATUS(record.wait_status);
  }
  end.killed = record.killed != 0;
  if (record.failed != 0) end.setup_failure = describe(record.failure);
  end.usage = {.user_time = std::chrono::microseconds(record.user_us),
               .system_time = std::chrono::microseconds(record.system_us),
               .max_resident_bytes = record.max_resident_bytes};
  return end;
}

}  // namespace

Handover prepare_spawn(SpawnRequest request) {
  require_possible(request.confinement.layers);
  Plan plan{.confinement = request.confinement};
  if (request.confinement.layers.level != Level::L0) {
    plan.filter = filter_program(filter_shape(request.confinement, landlock_abi()));
  }
  auto leash = posix::make_pipe();
  auto status = posix::make_pipe();
  Handover handover{.child = Child(), .environment = environment_of(request)};
  auto& handed = handover.descriptors;
  handed.push_back(std::move(request.standard_output));
  handed.push_back(std::move(request.standard_error));
  handed.push_back(std::move(request.channel));
  handed.push_back(std::move(leash.ours));
  handed.push_back(std::move(status.theirs));
  handed.push_back(write_plan(plan));
  handover.child.status_ = std::move(status.ours);
  check(::fcntl(handover.child.status_.get(), F_SETFL, O_NONBLOCK) == 0 ? 0 : errno, "status pipe");
  handover.child.leash_ = std::move(leash.theirs);
  return handover;
}

Child finish_spawn(Handover handover, pid_t pid) {
  Child child = std::move(handover.child);
  child.pid_ = pid;
  child.pidfd_ = pidfd_of(pid);
  if (!child.pidfd_) throw std::system_error(errno, std::generic_category(), "pidfd of a child");
  return child;
}

Child spawn(SpawnRequest request) {
  const std::string executable = request.executable;
  std::vector<std::string> arguments{executable, std::string(kConfinedFlag)};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  Handover handover = prepare_spawn(std::move(request));
  SpawnActions actions;
  actions.pass({}, STDIN_FILENO);
  for (std::size_t i = 0; i < handover.descriptors.size(); ++i) {
    actions.pass(handover.descriptors[i], static_cast<int>(i) + STDOUT_FILENO);
  }
  const pid_t pid =
      actions.spawn(executable, pointers(arguments).data(), pointers(handover.environment).data());
  return finish_spawn(std::move(handover), pid);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      status_(std::move(other.status_)),
      leash_(std::move(other.leash_)),
      worker_(std::move(other.worker_)),
      pending_(std::move(other.pending_)),
      worker_pid_(other.worker_pid_),
      ended_(other.ended_),
      end_(std::move(other.end_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(status_, other.status_);
  std::swap(leash_, other.leash_);
  std::swap(worker_, other.worker_);
  std::swap(pending_, other.pending_);
  std::swap(worker_pid_, other.worker_pid_);
  std::swap(ended_, other.ended_);
  std::swap(end_, other.end_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0) give_up();
}

void Child::read_status() {
  std::array<char, 2 * sizeof(StatusRecord)> room{};
  for (;;) {
    const auto length = ::read(status_.get(), room.data(), room.size());
    if (length < 0 && errno == EINTR) continue;
    if (length == 0) ended_ = true;
    if (length <= 0) break;
    pending_.append(room.data(), static_cast<std::size_t>(length));
  }
  while (pending_.size() >= sizeof(StatusRecord)) {
    StatusRecord record;
    std::memcpy(&record, pending_.data(), sizeof record);
    pending_.erase(0, sizeof record);
    take(record);
  }
}

void Child::take(const StatusRecord& record) {
  if (record.magic != StatusRecord::kMagic) return;
  if (record.kind == StatusRecord::Kind::started) {
    worker_pid_ = record.worker_pid;
    worker_ = pidfd_of(record.worker_pid);
  } else {
    end_ = end_from(record);
    ended_ = true;
  }
}

End Child::reap(Clock::time_point deadline) {
  if (pid_ > 0) {
    if (!wait_readable(pidfd_, deadline)) return end_;
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    read_status();
  }
  if (!end_.clean_record && worker_) {
    // The keeper was killed from outside. Its death kills the worker, and a pid namespace the rest;
    // without one, what the worker started is in its process group, whose number is taken while any
    // of it lives.
    ::kill(-*worker_pid_, SIGKILL);
    ::syscall(SYS_pidfd_send_signal, worker_.get(), SIGKILL, nullptr, 0U);
    end_.gone = wait_readable(worker_, deadline);
  } else {
    end_.gone = true;
  }
  return end_;
}

void Child::give_up() noexcept {
  using namespace std::chrono_literals;
  kill();
  if (!wait_readable(pidfd_, Clock::now() + 5s)) {
    // Something below does not die, as in an uninterruptible call of a driver. Nothing more can be
    // done.
    ::kill(pid_, SIGKILL);
  }
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace assay::confinement
