#include "plans/held_step.h"

namespace assay::plans {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{10};
constexpr std::chrono::hours kLongest{24 * 14};
// $0 is the marker. Sleeping is what keeps the tree: it ends when the step is stopped.
constexpr const char* kHold = R"("$@" || exit $?; : >"$0" || exit 70; exec sleep 2000000)";

Step holding(const Step& step, const std::filesystem::path& marker) {
  Step held = step;
  held.argv = {"sh", "-c", kHold, marker.string()};
  held.argv.insert(held.argv.end(), step.argv.begin(), step.argv.end());
  held.timeout = kLongest;
  return held;
}

double ms_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
}

std::int64_t unix_ns_at(Clock::time_point then) {
  const auto ago = Clock::now() - then;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             (std::chrono::system_clock::now() - ago).time_since_epoch())
      .count();
}

}  // namespace

HeldStep::HeldStep(const StepRunner& runner, const Step& step, std::filesystem::path marker)
    : marker_(std::move(marker)),
      timeout_(step.timeout),
      begun_(Clock::now()),
      watching_([this, &runner, held = holding(step, marker_)](const std::stop_token& stop) {
        end_ = runner.run(held, stop);
        ended_ = true;
      }) {}

HeldStep::~HeldStep() {
  watching_.request_stop();
  if (watching_.joinable()) watching_.join();
}

StepEnd HeldStep::give_up(StepEnd::Why why) {
  watching_.request_stop();
  watching_.join();
  end_.why = why;
  return end_;
}

StepEnd HeldStep::wait_for_command(const std::stop_token& stop) {
  while (!ended_) {
    std::error_code ignored;
    if (std::filesystem::exists(marker_, ignored)) {
      return {.why = StepEnd::Why::exited,
              .started_ns = unix_ns_at(begun_),
              .wall_ms = ms_since(begun_)};
    }
    if (stop.stop_requested()) return give_up(StepEnd::Why::cancelled);
    if (Clock::now() - begun_ >= timeout_) return give_up(StepEnd::Why::timed_out);
    std::this_thread::sleep_for(kLook);
  }
  return end_;
}

}  // namespace assay::plans
