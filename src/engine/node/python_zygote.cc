#include "engine/node/python_zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "engine/node/python_package.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using confinement::Child;
using frames::Frame;
using std::chrono::milliseconds;

constexpr frames::Caps kCaps{.descriptors = confinement::kHandedDescriptors};
// Importing torch took 1.8 s of CPU and, from a cold disk that others used, half a minute.
constexpr std::chrono::seconds kImportLimit{180};
constexpr std::chrono::seconds kForkLimit{10};
// 300 MiB are worth keeping while somebody works.
constexpr int kIdleSeconds = 300;
constexpr milliseconds kStopPeriod{100};
constexpr int kPackageDescriptor = 4;

posix::Descriptor package_file() {
  const std::string text = python_package();
  posix::Descriptor file(::memfd_create("assay_runner", MFD_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::lseek(file.get(), 0, SEEK_SET) != 0) {
    throw std::system_error(errno, std::generic_category(), "package of the Python runner");
  }
  return file;
}

// Libraries that make threads when they are imported cannot be forked afterwards, and kernels are
// timed on one core. A GPU that is there stays unseen.
std::vector<std::string> environment() {
  return {"PATH=/usr/bin:/bin",       "HOME=/nonexistent",      "LANG=C.UTF-8",
          "OMP_NUM_THREADS=1",        "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1",
          "NUMEXPR_NUM_THREADS=1",    "CUDA_VISIBLE_DEVICES=",  "TORCH_DEVICE_BACKEND_AUTOLOAD=0",
          "PYTHONDONTWRITEBYTECODE=1"};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

pid_t spawn_interpreter(const std::string& executable, const posix::Descriptor& channel) {
  const posix::Descriptor package = package_file();
  // Above all targets, so that no target overwrites a source.
  const posix::Descriptor high_channel(::fcntl(channel.get(), F_DUPFD_CLOEXEC, 64));
  const posix::Descriptor high_package(::fcntl(package.get(), F_DUPFD_CLOEXEC, 64));
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&files, high_channel.get(), confinement::kChannelDescriptor);
  ::posix_spawn_file_actions_adddup2(&files, high_package.get(), kPackageDescriptor);
  ::posix_spawn_file_actions_addclosefrom_np(&files, kPackageDescriptor + 1);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::vector<std::string> arguments{executable, "-I", "-B", "-c", python_bootstrap()};
  std::vector<std::string> entries = environment();
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, executable.c_str(), &files, &attributes,
                                  pointers(arguments).data(), pointers(entries).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) throw std::system_error(error, std::generic_category(), executable);
  return pid;
}

}  // namespace

PythonZygote::PythonZygote(Interpreter interpreter, fs::path library)
    : interpreter_(std::move(interpreter)), library_(std::move(library)), channel_({}, {}, true) {}

PythonZygote::~PythonZygote() { end(); }

void PythonZygote::end() {
  ready_ = false;
  if (pid_ <= 0) return;
  channel_.close();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void PythonZygote::start() {
  auto sockets = posix::make_socket_pair();
  channel_ = frames::Channel(std::move(sockets.ours), kCaps, true);
  pid_ = spawn_interpreter(interpreter_.executable, sockets.theirs);
  Frame request;
  request.body = {{"type", "prepare"}, {"library", library_.string()}, {"idle_s", kIdleSeconds}};
  channel_.queue(std::move(request));
  channel_.flush();
}

void PythonZygote::warm() {
  const std::lock_guard lock(mutex_);
  if (pid_ <= 0) start();
}

std::optional<Frame> PythonZygote::next(Deadline deadline, const std::stop_token& stop) {
  for (;;) {
    channel_.flush();
    channel_.read_available();
    if (auto frame = channel_.next()) return frame;
    if (channel_.state() != frames::Channel::State::open || stop.stop_requested()) {
      return std::nullopt;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    const short events = channel_.wants_write() ? POLLIN | POLLOUT : POLLIN;
    pollfd waiting{.fd = channel_.descriptor(), .events = events, .revents = 0};
    ::poll(&waiting, 1, static_cast<int>(std::min(left, kStopPeriod).count()));
  }
}

std::optional<NoPython> PythonZygote::make_ready(const std::stop_token& stop) {
  if (ready_) {
    // It may have ended after idling, or be dying: only an answer says that it is there.
    Frame ping;
    ping.body = {{"type", "ping"}};
    channel_.queue(std::move(ping));
    const auto pong = next(Clock::now() + kForkLimit, {});
    if (pong && pong->type() == "pong") return std::nullopt;
    end();
  }
  if (pid_ <= 0) start();
  const auto reply = next(Clock::now() + kImportLimit, stop);
  if (reply && reply->type() == "ready") {
    ready_ = true;
    return std::nullopt;
  }
  if (stop.stop_requested()) return NoPython{.reason = "cancelled"};  // it imports on for the next
  const std::string what = reply ? reply->body.value("what", std::string("it answered out of turn"))
                                 : std::string("it ended, or did not import torch in ") +
                                       std::to_string(kImportLimit.count()) + " s";
  end();
  return NoPython{.reason = interpreter_.executable + " cannot be used: " + what};
}

std::variant<Child, NoPython> PythonZygote::spawn(confinement::SpawnRequest request,
                                                  const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  if (auto none = make_ready(stop)) return *none;
  auto handover = confinement::prepare_spawn(std::move(request));
  Frame word;
  word.body = {{"type", "fork"}, {"environment", handover.environment}};
  word.descriptors = std::move(handover.descriptors);
  channel_.queue(std::move(word));
  const auto reply = next(Clock::now() + kForkLimit, {});
  const pid_t pid = reply ? reply->body.value("pid", -1) : -1;
  if (pid <= 0) {
    end();
    return NoPython{.reason = "The Python process that forks runners has gone.", .is_fault = true};
  }
  return confinement::finish_spawn(std::move(handover), pid);
}

}  // namespace assay::node
