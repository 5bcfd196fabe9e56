#include "engine/node/runner_process.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>

#include "engine/confinement/resident.h"

namespace assay::node {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How often resident memory is summed. A runner that grows by a gigabyte a second overshoots by 2
// %.
constexpr milliseconds kMemoryPeriod{20};
constexpr milliseconds kClosedChannelGrace{500};
// What it says goes into a report, whose bodies the journal keeps to a quarter of a frame's depth.
constexpr frames::Caps kCaps{.depth = 64};
// What the kernel may take to free a killed runner's memory before we call it unkillable.
constexpr std::chrono::seconds kReapLimit{10};

posix::Descriptor non_blocking(posix::Descriptor fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

int milliseconds_until(Clock::time_point when) {
  const auto left = std::chrono::ceil<milliseconds>(when - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

}  // namespace

const char* name(RunnerRole role) {
  switch (role) {
    case RunnerRole::compile:
      return "compile";
    case RunnerRole::kernel:
      return "kernel";
    case RunnerRole::gpu_kernel:
      return "gpu-kernel";
    case RunnerRole::referee:
    case RunnerRole::gpu_referee:
      return "referee";
    case RunnerRole::devices:
      return "devices";
    case RunnerRole::python:
      return "python";
    case RunnerRole::sanitizer:
      return "sanitizer";
  }
  return "";
}

const char* name(RunnerEnd::Why why) {
  switch (why) {
    case RunnerEnd::Why::exited:
      return "exited";
    case RunnerEnd::Why::timed_out:
      return "timed_out";
    case RunnerEnd::Why::cancelled:
      return "cancelled";
    case RunnerEnd::Why::memory_exceeded:
      return "memory_exceeded";
    case RunnerEnd::Why::output_flood:
      return "output_flood";
    case RunnerEnd::Why::malformed:
      return "malformed";
    case RunnerEnd::Why::setup_failed:
      return "setup_failed";
    case RunnerEnd::Why::fault:
      return "fault";
    case RunnerEnd::Why::lost:
      return "lost";
  }
  return "";
}

RunnerProcess::RunnerProcess(confinement::SpawnRequest request, RunnerLimits limits,
                             const Spawner& spawn)
    : limits_(limits), channel_({}, {}, true), child_([&] {
        auto sockets = posix::make_socket_pair();
        auto pipe = posix::make_pipe();
        request.channel = std::move(sockets.theirs);
        request.standard_error = pipe.theirs.duplicate();
        request.standard_output = std::move(pipe.theirs);
        channel_ = frames::Channel(std::move(sockets.ours), kCaps, true);
        output_ = non_blocking(std::move(pipe.ours));
        return spawn(std::move(request));
      }()) {}

RunnerProcess::~RunnerProcess() = default;

Reply RunnerProcess::ask(frames::Frame request, Deadline deadline, const std::stop_token& stop) {
  post(std::move(request));
  return await(deadline, stop);
}

void RunnerProcess::post(frames::Frame request) {
  if (end_) return;
  channel_.queue(std::move(request));
  channel_.flush();
}

Reply RunnerProcess::await(Deadline deadline, const std::stop_token& stop) {
  if (end_) return *end_;
  const posix::Descriptor cancelled = posix::make_event();
  const std::stop_callback wake(stop, [&] { posix::signal_event(cancelled); });
  awake_.extend();
  for (;;) {
    auto decided = step(deadline, cancelled.get());
    if (!decided) continue;
    if (auto* end = std::get_if<RunnerEnd>(&*decided)) {
      end_ = finish(std::move(*end));
      return *end_;
    }
    return std::move(*decided);
  }
}

std::optional<Reply> RunnerProcess::step(Deadline deadline, int cancelled) {
  channel_.flush();
  const short channel_events = channel_.wants_write() ? POLLIN | POLLOUT : POLLIN;
  const bool channel_open = channel_.state() == frames::Channel::State::open;
  pollfd entries[] = {{channel_open ? channel_.descriptor() : -1, channel_events, 0},
                      {child_.status().get(), POLLIN, 0},
                      {output_.get(), POLLIN, 0},
                      {cancelled, POLLIN, 0}};
  const auto rest = std::min(milliseconds_until(deadline), static_cast<int>(kMemoryPeriod.count()));
  awake_.poll(entries, rest);

  if (entries[2].revents != 0) {
    if (auto end = drain_output()) return *end;
  }
  if (entries[1].revents != 0) child_.read_status();
  // All it said before its end is read before its end is believed.
  if (entries[0].revents != 0 || child_.ended()) channel_.read_available();
  if (auto reply = take_reply()) return reply;
  if (channel_.state() == frames::Channel::State::malformed) {
    return RunnerEnd{.why = RunnerEnd::Why::malformed, .detail = channel_.complaint()};
  }
  // Its own end, before the deadline and the cancellation: what happened first decides.
  if (child_.ended()) return RunnerEnd{.why = RunnerEnd::Why::exited};
  if (auto end = watch_closed_channel()) return *end;
  if (entries[3].revents != 0) return RunnerEnd{.why = RunnerEnd::Why::cancelled};
  if (Clock::now() >= deadline) return RunnerEnd{.why = RunnerEnd::Why::timed_out};
  if (auto end = watch_memory()) return *end;
  return std::nullopt;
}

std::optional<Reply> RunnerProcess::take_reply() {
  auto frame = channel_.next();
  if (!frame) return std::nullopt;
  if (frame->type() == "fault") {
    return RunnerEnd{.why = RunnerEnd::Why::fault,
                     .detail = frame->body.value("message", std::string("no message"))};
  }
  return std::move(*frame);
}

std::optional<RunnerEnd> RunnerProcess::drain_output() {
  std::array<char, 65536> block;
  // Whoever writes faster than this reads must not keep it from the clock.
  constexpr std::size_t kAtOnce = 4U << 20;
  for (const std::size_t until = output_seen_ + kAtOnce; output_seen_ < until;) {
    const long got = ::read(output_.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) output_.reset();  // everyone has closed it: stop polling a readable end
    if (got <= 0) return std::nullopt;
    const auto count = static_cast<std::size_t>(got);
    output_seen_ += count;
    kept_output_.append(block.data(), count);
    if (kept_output_.size() > 2 * limits_.kept_output_bytes) {
      kept_output_.erase(0, kept_output_.size() - limits_.kept_output_bytes);
    }
    if (output_seen_ > limits_.output_bytes) {
      return RunnerEnd{.why = RunnerEnd::Why::output_flood};
    }
  }
  return std::nullopt;
}

// A dying process closes its channel just before its end is recorded; one that lives on can never
// answer.
std::optional<RunnerEnd> RunnerProcess::watch_closed_channel() {
  if (channel_.state() != frames::Channel::State::ended) return std::nullopt;
  if (!channel_closed_at_) channel_closed_at_ = Clock::now();
  if (Clock::now() - *channel_closed_at_ < kClosedChannelGrace) return std::nullopt;
  return RunnerEnd{.why = RunnerEnd::Why::malformed, .detail = "it closed its channel"};
}

std::string RunnerProcess::recent_output() {
  if (output_.valid()) [[maybe_unused]]
    const auto flood = drain_output();
  const std::size_t kept = std::min(kept_output_.size(), limits_.kept_output_bytes);
  return kept_output_.substr(kept_output_.size() - kept);
}

std::optional<std::chrono::nanoseconds> RunnerProcess::cpu_time() const {
  clockid_t clock{};
  timespec used{};
  const auto worker = child_.worker_pid();
  if (!worker || ::clock_getcpuclockid(*worker, &clock) != 0 ||
      ::clock_gettime(clock, &used) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

std::optional<RunnerEnd> RunnerProcess::watch_memory() {
  if (Clock::now() < next_memory_check_) return std::nullopt;
  next_memory_check_ = Clock::now() + kMemoryPeriod;
  const auto resident = confinement::resident_bytes(child_.pid());
  if (!resident || *resident <= limits_.resident_bytes) return std::nullopt;
  return RunnerEnd{.why = RunnerEnd::Why::memory_exceeded,
                   .detail = std::to_string(*resident >> 20) + " MiB resident, " +
                             std::to_string(limits_.resident_bytes >> 20) + " MiB allowed"};
}

bool RunnerProcess::end() {
  if (!end_) end_ = finish({.why = RunnerEnd::Why::cancelled});
  return !end_->left_running;
}

RunnerEnd RunnerProcess::finish(RunnerEnd first) {
  child_.kill();
  const confinement::End end = child_.reap(Clock::now() + kReapLimit);
  if (output_.valid()) [[maybe_unused]]
    const auto flood = drain_output();
  first.output = kept_output_.size() > limits_.kept_output_bytes
                     ? kept_output_.substr(kept_output_.size() - limits_.kept_output_bytes)
                     : kept_output_;
  if (!end.setup_failure.empty()) {
    first.why = RunnerEnd::Why::setup_failed;
    first.detail = end.setup_failure;
  } else if (first.why == RunnerEnd::Why::exited) {
    if (!end.clean_record) first.why = RunnerEnd::Why::lost;
    first.signal = end.signal;
    first.exit_code = end.exit_code;
  }
  first.left_running = !end.gone;
  if (first.left_running) first.detail += " (a process of this runner could not be killed)";
  return first;
}

}  // namespace assay::node
