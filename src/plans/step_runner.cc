#include "plans/step_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "engine/confinement/child.h"
#include "plans/step_output.h"

extern char** environ;

namespace assay::plans {
namespace {

using confinement::Child;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What the kernel may take to free a killed step's memory before we call it unkillable.
constexpr std::chrono::seconds kReapLimit{10};
constexpr milliseconds kLongestPoll{1'000};
constexpr double kMsPerUs = 1e-3;

// A user's build may take all it likes of what the machine has; the operator's own limits stand.
confinement::Limits host_limits() {
  constexpr auto kUnlimited = std::numeric_limits<std::uint64_t>::max();
  return {.cpu_seconds = kUnlimited,
          .data_bytes = kUnlimited,
          .file_bytes = kUnlimited,
          .locked_bytes = kUnlimited,
          .open_files = 65'536,
          .tasks = 65'536};
}

confinement::Limits confined_limits(const Enclosure& enclosure) {
  confinement::Limits limits;
  limits.data_bytes = enclosure.memory_bytes;
  limits.cpu_seconds = 7'200;
  limits.file_bytes = 4ULL << 30;
  limits.temporary_bytes = 1ULL << 30;
  return limits;
}

std::vector<std::pair<std::string, std::string>> environment_of(const Step& step) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; !step.enclosure.confined && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  if (!step.enclosure.confined) {
    // What spawn() says where nobody does is meant for confined children.
    all.emplace("TMPDIR", "/tmp");
    all.emplace("HOME", "/");
  }
  for (const auto& [key, value] : step.environment) all[key] = value;
  return {all.begin(), all.end()};
}

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What the child could not execute is told on this pipe; a successful exec closes it unsaid.
std::string refusal_of(const posix::Descriptor& pipe) {
  std::string text;
  std::array<char, 1024> block;
  for (;;) {
    const long got = ::read(pipe.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

// One step while it runs.
class Running {
 public:
  Running(Child child, posix::Descriptor refusal, StepOutput& output, Clock::time_point deadline)
      : child_(std::move(child)),
        refusal_(std::move(refusal)),
        output_(output),
        deadline_(deadline) {
    ::fcntl(refusal_.get(), F_SETFL, O_NONBLOCK);
  }

  StepEnd wait(const std::stop_token& stop) {
    const posix::Descriptor cancelled = posix::make_event();
    const std::stop_callback wake(stop, [&] { posix::signal_event(cancelled); });
    std::optional<StepEnd::Why> why;
    while (!why) why = poll_once(cancelled.get());
    return finish(*why);
  }

 private:
  std::optional<StepEnd::Why> poll_once(int cancelled) {
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - Clock::now());
    pollfd entries[] = {{child_.status().get(), POLLIN, 0},
                        {output_.standard_output(), POLLIN, 0},
                        {output_.standard_error(), POLLIN, 0},
                        {cancelled, POLLIN, 0}};
    ::poll(entries, 4, static_cast<int>(std::clamp(left, milliseconds(0), kLongestPoll).count()));
    output_.drain();
    if (entries[0].revents != 0) child_.read_status();
    // Its own end first: what happened first decides.
    if (child_.ended()) return StepEnd::Why::exited;
    if (entries[3].revents != 0) return StepEnd::Why::cancelled;
    if (Clock::now() >= deadline_) return StepEnd::Why::timed_out;
    if (output_.flooded()) return StepEnd::Why::output_flood;
    return std::nullopt;
  }

  StepEnd finish(StepEnd::Why why) {
    child_.kill();
    const confinement::End end = child_.reap(Clock::now() + kReapLimit);
    StepEnd result{.why = why};
    // Everyone who could write is dead: what is left in the pipes is all there will be.
    for (int turn = 0; turn < 64 && !output_.ended(); ++turn) output_.drain();
    const std::string refused = refusal_of(refusal_);
    if (!end.setup_failure.empty()) {
      result.why = StepEnd::Why::setup_failed;
      result.detail = end.setup_failure;
    } else if (!refused.empty()) {
      result.why = StepEnd::Why::not_started;
      result.detail = refused;
    } else if (why == StepEnd::Why::exited) {
      if (!end.clean_record) result.why = StepEnd::Why::lost;
      result.signal = end.signal;
      result.exit_code = end.exit_code;
    }
    if (!end.gone) result.detail += " (a process of this step could not be killed)";
    result.user_ms = static_cast<double>(end.usage.user_time.count()) * kMsPerUs;
    result.system_ms = static_cast<double>(end.usage.system_time.count()) * kMsPerUs;
    result.max_resident_bytes = end.usage.max_resident_bytes;
    output_.tell(result);
    return result;
  }

  Child child_;
  posix::Descriptor refusal_;
  StepOutput& output_;
  Clock::time_point deadline_;
};

}  // namespace

StepRunner::StepRunner(std::filesystem::path runner, confinement::Layers layers,
                       std::string missing)
    : runner_(std::move(runner)), layers_(layers), missing_(std::move(missing)) {}

std::string StepRunner::level_of(const Enclosure& enclosure) const {
  return enclosure.confined ? std::string(confinement::to_text(layers_.level)) : "host";
}

StepEnd StepRunner::run(const Step& step, const std::stop_token& stop) const {
  StepOutput output(step.log);
  auto refusal = posix::make_pipe();
  confinement::SpawnRequest request{
      .executable = runner_.string(),
      .arguments = {"--role=step", "--cwd=" + step.cwd.string(), "--"},
      .environment = environment_of(step),
      .channel = std::move(refusal.theirs),
      .standard_output = output.take_standard_output(),
      .standard_error = output.take_standard_error()};
  request.arguments.insert(request.arguments.end(), step.argv.begin(), step.argv.end());
  confinement::Confinement& walls = request.confinement;
  walls.may_start_processes = true;
  walls.profile = confinement::Profile::cpu;
  if (step.enclosure.confined) {
    walls.layers = layers_;
    walls.readable = step.enclosure.readable;
    walls.writable = step.enclosure.writable;
    walls.limits = confined_limits(step.enclosure);
  } else {
    walls.layers = {.level = confinement::Level::L0, .user_namespace = false, .landlock = false};
    walls.limits = host_limits();
  }
  const auto begun = Clock::now();
  const std::int64_t started_ns = unix_ns();
  StepEnd end;
  try {
    Running running(confinement::spawn(std::move(request)), std::move(refusal.ours), output,
                    begun + step.timeout);
    end = running.wait(stop);
  } catch (const std::exception& error) {
    end = {.why = StepEnd::Why::setup_failed, .detail = error.what()};
  }
  end.started_ns = started_ns;
  end.wall_ms = std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
  return end;
}

}  // namespace assay::plans
