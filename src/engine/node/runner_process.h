// One confined child and the one exit path every end of it takes: finish, crash, deadline, cancel,
// flood, memory. First verdict wins; then every process of the runner is killed and the leader
// reaped before ask() returns the end.
//
// Owned by one job's thread. ask() blocks that thread, never longer than the deadline plus the time
// a kill takes. Destruction kills what still lives.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "engine/confinement/child.h"
#include "engine/frames/channel.h"
#include "engine/posix/awake.h"

namespace assay::node {

enum class RunnerRole {
  compile,
  kernel,
  gpu_kernel,
  referee,
  gpu_referee,
  devices,
  python,
  sanitizer
};
[[nodiscard]] const char* name(RunnerRole role);

struct RunnerEnd {
  enum class Why {
    exited,  // by itself: `signal` or `exit_code` say how
    timed_out,
    cancelled,
    memory_exceeded,
    output_flood,
    malformed,     // a frame that is none
    setup_failed,  // the confinement could not be put in force: the role never ran
    fault,         // the role reported a failure of its own code
    lost,          // its end was not recorded: the keeper was killed
  };
  Why why = Why::exited;
  int signal = 0;
  int exit_code = 0;
  std::string detail{};
  std::string output{};       // the last of what it wrote to stdout and stderr
  bool left_running = false;  // a process of it could not be killed
};
[[nodiscard]] const char* name(RunnerEnd::Why why);

using Reply = std::variant<frames::Frame, RunnerEnd>;
using Deadline = std::chrono::steady_clock::time_point;

struct RunnerLimits {
  std::size_t resident_bytes = 4ULL << 30;  // watched; all processes of the runner together
  std::size_t output_bytes = 16U << 20;     // stdout and stderr together, beyond which it is killed
  std::size_t kept_output_bytes = 16U << 10;
  // How long ask() looks for an answer before it sleeps (posix/awake.h).
  std::chrono::microseconds awake{0};
};

// How the child of a request comes to be; confinement::spawn, or a zygote's way.
using Spawner = std::function<confinement::Child(confinement::SpawnRequest)>;

class RunnerProcess {
 public:
  // Throws if the child cannot be spawned at all.
  RunnerProcess(confinement::SpawnRequest request, RunnerLimits limits,
                const Spawner& spawn = confinement::spawn);
  ~RunnerProcess();
  // It is to end, and nothing is asked of it any more; returns at once. Several that end together
  // are told so before the first of them is waited for.
  void dismiss() noexcept { child_.kill(); }
  // Ends it, if it has not ended: kills all its processes and waits for that, some seconds at most.
  // False: one of them could not be killed, and what it runs on a device may go on.
  [[nodiscard]] bool end();
  RunnerProcess(const RunnerProcess&) = delete;
  RunnerProcess& operator=(const RunnerProcess&) = delete;

  // Sends the request and waits for the next frame. After an end the process is gone, and asking
  // again returns the same end.
  [[nodiscard]] Reply ask(frames::Frame request, Deadline deadline, const std::stop_token& stop);
  // The halves of ask(), for whoever has something else to do meanwhile: a frame comes for each
  // request, in their order. Meanwhile nobody looks whether the process has ended.
  void post(frames::Frame request);
  [[nodiscard]] Reply await(Deadline deadline, const std::stop_token& stop);

  // The last of what it has written so far.
  [[nodiscard]] std::string recent_output();
  // How much that was in all, kept or not.
  [[nodiscard]] std::size_t output_bytes() const { return output_seen_; }
  // What the worker's threads have used together; nothing once it is gone.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> cpu_time() const;

 private:
  // One poll: what happened, if it decides anything.
  [[nodiscard]] std::optional<Reply> step(Deadline deadline, int cancelled);
  [[nodiscard]] std::optional<RunnerEnd> watch_memory();
  [[nodiscard]] std::optional<RunnerEnd> watch_closed_channel();
  [[nodiscard]] std::optional<RunnerEnd> drain_output();
  [[nodiscard]] std::optional<Reply> take_reply();
  // The one exit: kills everything, reaps, and completes `first` with how the process ended.
  [[nodiscard]] RunnerEnd finish(RunnerEnd first);

  RunnerLimits limits_;
  posix::Descriptor output_{};
  frames::Channel channel_;
  confinement::Child child_;
  std::size_t output_seen_ = 0;
  std::string kept_output_{};
  std::chrono::steady_clock::time_point next_memory_check_{};
  posix::Awake awake_{limits_.awake};
  std::optional<std::chrono::steady_clock::time_point> channel_closed_at_{};
  std::optional<RunnerEnd> end_{};
};

}  // namespace assay::node
