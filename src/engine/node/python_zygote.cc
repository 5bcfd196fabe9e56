#include "engine/node/python_zygote.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "engine/node/python_package.h"
#include "engine/node/zygote_start.h"

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
  return {"PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8",
          // Threads that a source asks for all the same do not look for work in another's turn.
          "OMP_WAIT_POLICY=PASSIVE", "GOMP_SPINCOUNT=0", "KMP_BLOCKTIME=0", "OMP_NUM_THREADS=1",
          "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1", "NUMEXPR_NUM_THREADS=1",
          "CUDA_VISIBLE_DEVICES=", "TORCH_DEVICE_BACKEND_AUTOLOAD=0", "PYTHONDONTWRITEBYTECODE=1"};
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
  // The package behind the channel, where its first words look for it.
  const posix::Descriptor package = package_file();
  pid_ = start_zygote({.arguments = {interpreter_.executable, "-I", "-B", "-c", python_bootstrap()},
                       .environment = environment(),
                       .handed = {&sockets.theirs, &package},
                       .is_silent = true});
  Frame request;
  request.body = {{"type", "prepare"},
                  {"library", library_.string()},
                  {"idle_s", kIdleSeconds},
                  {"without", without_}};
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
  // One that can be forked does without what made this one unfit.
  if (reply && reply->body.contains("without") && without_.empty()) {
    without_.push_back(reply->body.at("without").get<std::string>());
    end();
    return make_ready(stop);
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
  auto child = fork_confined(channel_, std::move(request),
                             [this] { return next(Clock::now() + kForkLimit, {}); });
  if (child) return std::move(*child);
  end();
  return NoPython{.reason = "The Python process that forks runners has gone.", .is_fault = true};
}

}  // namespace assay::node
