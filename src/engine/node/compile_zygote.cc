#include "engine/node/compile_zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "engine/node/zygote_start.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using confinement::Child;
using confinement::SpawnRequest;
using frames::Frame;
using std::chrono::milliseconds;

constexpr frames::Caps kCaps{.descriptors = confinement::kHandedDescriptors};
// Loading the compiler took 8 ms from a warm disk and 140 ms from a cold one, the first compile 50.
constexpr std::chrono::seconds kBaseLimit{5};
constexpr std::chrono::seconds kForkLimit{2};
// Its memory is worth keeping while somebody works: with headers 200 MB and a file of 100. Without
// it is 60, and the first source after a pause waits for it.
constexpr std::chrono::minutes kIdleWithHeaders{2};
constexpr std::chrono::minutes kIdle{15};
constexpr std::size_t kMaxWarm = 2;
// A zygote that keeps dying is not tried for ever.
constexpr int kMaxBaseFailures = 3;
constexpr std::string_view kHeaderPrefix = "headers-";

// The caller's stays whole, for the way without a zygote.
SpawnRequest duplicate(const SpawnRequest& request) {
  const auto copy = [](const posix::Descriptor& one) {
    return one ? one.duplicate() : posix::Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC));
  };
  return {.executable = request.executable,
          .arguments = request.arguments,
          .environment = request.environment,
          .confinement = request.confinement,
          .channel = copy(request.channel),
          .standard_output = copy(request.standard_output),
          .standard_error = copy(request.standard_error)};
}

}  // namespace

CompileZygote::CompileZygote(const fs::path& executable, const Toolkit& toolkit,
                             const Warmth& warmth, const std::string& pch)
    : channel_({}, {}, true), pch_(pch) {
  auto sockets = posix::make_socket_pair();
  channel_ = frames::Channel(std::move(sockets.ours), kCaps, true);
  pid_ = start_zygote({.arguments = {executable.string(), "--zygote"},
                       .environment = {"PATH=/usr/bin:/bin"},
                       .handed = {&sockets.theirs}});
  const auto idle = warmth.headers.empty() ? kIdle : kIdleWithHeaders;
  Frame request;
  request.body = {{"type", "prepare"},
                  {"nvrtc", toolkit.nvrtc.string()},
                  {"options", warmth.options},
                  {"headers", warmth.headers},
                  {"pch", pch},
                  {"idle_ms", milliseconds(idle).count()}};
  channel_.queue(std::move(request));
  channel_.flush();
}

CompileZygote::~CompileZygote() {
  channel_.close();
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  if (!pch_.empty()) fs::remove(pch_, ignored);
}

std::optional<Frame> CompileZygote::next(Clock::time_point deadline) {
  for (;;) {
    channel_.flush();
    channel_.read_available();
    if (auto frame = channel_.next()) return frame;
    if (channel_.state() != frames::Channel::State::open) {
      state_ = State::gone;
      return std::nullopt;
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    const short events = channel_.wants_write() ? POLLIN | POLLOUT : POLLIN;
    pollfd waiting{.fd = channel_.descriptor(), .events = events, .revents = 0};
    ::poll(&waiting, 1, static_cast<int>(left));
  }
}

std::pair<std::int64_t, std::int64_t> CompileZygote::stamp() const {
  struct stat status {};
  if (pch_.empty() || ::stat(pch_.c_str(), &status) != 0) return {0, 0};
  constexpr std::int64_t kSecond = 1'000'000'000;
  return {status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec, status.st_size};
}

CompileZygote::State CompileZygote::state(Clock::time_point deadline) {
  if (state_ == State::preparing) {
    if (const auto frame = next(deadline)) {
      state_ = frame->type() == "ready" ? State::ready : State::gone;
      if (frame->body.value("pch", std::string()).empty() && !pch_.empty()) state_ = State::gone;
      made_ = stamp();
    }
  } else if (state_ == State::ready) {
    // It may have ended after idling.
    if (next(Clock::now())) state_ = State::gone;
    // The compiler crashes on headers that are not as it wrote them, and the source would be
    // blamed.
    if (stamp() != made_) state_ = State::gone;
  }
  return state_;
}

std::optional<Child> CompileZygote::spawn(SpawnRequest request) {
  if (!pch_.empty()) request.confinement.readable.push_back(pch_);
  auto child = fork_confined(channel_, std::move(request),
                             [this] { return next(Clock::now() + kForkLimit); });
  if (!child) state_ = State::gone;
  return child;
}

CompileZygotes::CompileZygotes(fs::path executable, Toolkit toolkit, fs::path folder)
    : executable_(std::move(executable)), toolkit_(std::move(toolkit)), folder_(std::move(folder)) {
  remove_stale_headers();
}

// Named after the engine that made them; one that was killed together with its zygotes left its
// own.
void CompileZygotes::remove_stale_headers() const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  fs::directory_iterator files(folder_, error);
  while (!error && files != fs::directory_iterator()) {
    const fs::path path = files->path();
    files.increment(error);
    const std::string name = path.filename().string();
    if (!name.starts_with(kHeaderPrefix)) continue;
    pid_t owner = 0;
    std::from_chars(name.data() + kHeaderPrefix.size(), name.data() + name.size(), owner);
    std::error_code ignored;
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove(path, ignored);
  }
}

CompileZygote* CompileZygotes::base() {
  using State = CompileZygote::State;
  if (!toolkit_.has_compiler() || base_failures_ >= kMaxBaseFailures) return nullptr;
  if (base_ && base_->state(Clock::now() + kBaseLimit) == State::ready) return base_.get();
  const bool idled = base_ != nullptr;
  base_ = std::make_unique<CompileZygote>(
      executable_, toolkit_,
      Warmth{.options = {"--gpu-architecture=sm_90", "-lineinfo", "-Xptxas=-v", "--std=c++17"}},
      "");
  if (base_->state(Clock::now() + kBaseLimit) == State::ready) {
    if (idled) base_failures_ = 0;
    return base_.get();
  }
  ++base_failures_;
  base_.reset();
  return nullptr;
}

CompileZygote* CompileZygotes::warm(const Warmth& wanted) {
  const auto found = warm_.find(wanted);
  if (found == warm_.end()) return nullptr;
  const auto state = found->second.zygote->state(Clock::now());
  if (state == CompileZygote::State::gone) warm_.erase(found);
  if (state != CompileZygote::State::ready) return nullptr;
  found->second.used = Clock::now();
  return found->second.zygote.get();
}

std::optional<CompileZygotes::Forked> CompileZygotes::spawn(const Warmth& wanted,
                                                            const SpawnRequest& request) {
  const std::lock_guard lock(mutex_);
  for (CompileZygote* zygote : {warm(wanted), base()}) {
    if (zygote == nullptr) continue;
    if (auto child = zygote->spawn(duplicate(request))) {
      return Forked{.child = std::move(*child), .pch = zygote->pch()};
    }
  }
  return std::nullopt;
}

void CompileZygotes::forget(const Warmth& wanted) {
  const std::lock_guard lock(mutex_);
  warm_.erase(wanted);
}

void CompileZygotes::prepare(const Warmth& wanted) {
  if (folder_.empty() || wanted.headers.empty()) return;
  const std::lock_guard lock(mutex_);
  if (warm_.contains(wanted)) return;
  while (warm_.size() >= kMaxWarm) {
    warm_.erase(std::min_element(warm_.begin(), warm_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    }));
  }
  const fs::path pch = folder_ / (std::string(kHeaderPrefix) + std::to_string(::getpid()) + "-" +
                                  std::to_string(++made_) + ".pch");
  warm_[wanted] = {
      .zygote = std::make_unique<CompileZygote>(executable_, toolkit_, wanted, pch.string()),
      .used = Clock::now()};
}

}  // namespace assay::node
