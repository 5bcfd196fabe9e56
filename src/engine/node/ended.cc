#include "engine/node/ended.h"

#include <csignal>
#include <cstring>

namespace assay::node {
namespace {

constexpr int kRunnerFailed = 70;  // of assay_runner/zygote.py

using job::Verdict;
using nlohmann::json;

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

// What the child was doing, as a sentence's subject.
const char* work_of(RunnerRole role) {
  switch (role) {
    case RunnerRole::compile:
      return "The compiler";
    case RunnerRole::kernel:
    case RunnerRole::gpu_kernel:
      return "The process that ran the kernel";
    case RunnerRole::sanitizer:
      return "The process of compute-sanitizer";
    case RunnerRole::devices:
      return "The process that looks for GPUs";
    case RunnerRole::python:
      return "The process that ran the Python source";
    case RunnerRole::referee:
    case RunnerRole::gpu_referee:
      return "The referee";
  }
  return "The runner";
}

Ended died(const RunnerEnd& end, RunnerRole role) {
  const std::string who = work_of(role);
  // Python sources have system calls at hand: this may be the source's own doing.
  const bool may_kill_itself = role == RunnerRole::python && end.why != RunnerEnd::Why::lost;
  if ((end.signal == SIGKILL && !may_kill_itself) || end.why == RunnerEnd::Why::lost) {
    // Nothing in a confined runner can send it: an operator, or the machine's own memory killer.
    Ended ended = our_fault(who + " was killed from outside.");
    ended.interrupted = true;
    return ended;
  }
  // Trusted code on trusted input: whatever else ends the referee is ours.
  if (role == RunnerRole::referee) return our_fault(who + " died.");
  if (end.signal == SIGXCPU) {
    return {.verdict = Verdict::timed_out, .summary = who + " used up its CPU time."};
  }
  if (role == RunnerRole::compile && end.output.find("bad_alloc") != std::string::npos) {
    return {.verdict = Verdict::out_of_memory,
            .summary = who + " used more memory than a runner may have on this source."};
  }
  if (role == RunnerRole::compile) {
    return {
        .verdict = Verdict::compile_failed,
        .summary = "The compiler itself crashed (" +
                   (end.signal != 0 ? signal_name(end.signal)
                                    : "exit code " + std::to_string(end.exit_code)) +
                   ") on this source. Look for undeclared names in templates, launch bounds and "
                   "macros, and compile the kernel in smaller pieces."};
  }
  return {.verdict = Verdict::crashed,
          .summary = who +
                     (end.signal != 0 ? " died of " + signal_name(end.signal)
                                      : " ended with exit code " + std::to_string(end.exit_code)) +
                     (role == RunnerRole::python && end.exit_code == kRunnerFailed
                          ? ": so it ends where the runner's own functions fail, as they do when a "
                            "source replaces them."
                          : ".")};
}

}  // namespace

Ended cancelled() {
  return {.verdict = Verdict::cancelled, .summary = "Cancelled before it finished."};
}

std::optional<Ended> cancelled_if(const std::stop_token& stop) {
  if (!stop.stop_requested()) return std::nullopt;
  return cancelled();
}

Ended our_fault(const std::string& what) {
  return {.verdict = Verdict::engine_fault,
          .summary = what + " This is not the kernel's fault: run it again."};
}

bool may_go_on(const Ended& ended) {
  return ended.verdict == Verdict::timed_out || ended.verdict == Verdict::crashed ||
         ended.verdict == Verdict::engine_fault;
}

Ended blame(const RunnerEnd& end, RunnerRole role) {
  const std::string who = work_of(role);
  Ended ended;
  switch (end.why) {
    case RunnerEnd::Why::cancelled:
      ended = cancelled();
      break;
    case RunnerEnd::Why::timed_out:
      if (role == RunnerRole::referee) {
        ended = our_fault("The referee did not answer in time.");
      } else {
        ended = {.verdict = Verdict::timed_out,
                 .summary = who + " passed its deadline and was killed."};
      }
      break;
    case RunnerEnd::Why::memory_exceeded:
      ended = {.verdict = Verdict::out_of_memory,
               .summary = who + " used more memory than a runner may and was killed."};
      break;
    case RunnerEnd::Why::output_flood:
      ended = {.verdict = role == RunnerRole::compile ? Verdict::compile_failed : Verdict::crashed,
               .summary = who + " wrote more output than a runner may and was killed."};
      break;
    case RunnerEnd::Why::malformed:
      ended =
          role == RunnerRole::referee
              ? our_fault("The referee spoke out of turn: " + end.detail + ".")
              : Ended{.verdict =
                          role == RunnerRole::compile ? Verdict::compile_failed : Verdict::crashed,
                      .summary = who + " broke the protocol (" + end.detail + ") and was killed."};
      break;
    case RunnerEnd::Why::setup_failed:
      ended = our_fault("A runner could not be confined: " + end.detail + ".");
      break;
    case RunnerEnd::Why::fault:
      // A process that runs the user's host code can claim anything, a failure of ours too.
      ended = role == RunnerRole::python
                  ? Ended{.verdict = Verdict::crashed,
                          .summary = who + " broke the protocol and was killed."}
                  : our_fault(who + " failed: " + end.detail + ".");
      break;
    case RunnerEnd::Why::exited:
    case RunnerEnd::Why::lost:
      ended = died(end, role);
      break;
  }
  ended.detail["why"] = name(end.why);
  if (end.signal != 0) ended.detail["signal"] = signal_name(end.signal);
  if (end.exit_code != 0) ended.detail["exit_code"] = end.exit_code;
  if (end.left_running) ended.detail["left_running"] = true;
  if (!end.detail.empty()) ended.detail["detail"] = end.detail;
  if (!end.output.empty()) ended.detail["output"] = end.output;
  return ended;
}

}  // namespace assay::node
