// The lift of a Python source: what it makes the device do is captured in its own process, and
// repeated by a kernel runner, which never meets Python, on inputs that the source has not seen.
// The capture is a claim and counts for nothing by itself; only a repetition that is right says
// that the device code is, and its times are those of device code alone, taken like those of every
// `cuda` kernel.
//
// In this order: captures under two inputs, the answers to the inputs that will be judged on (while
// the programs are loaded elsewhere), the end of every Python process, the repetition. One object
// per job, used by the job's thread while it holds the device.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/node/gpu_pool.h"
#include "engine/node/gpu_timing.h"
#include "engine/node/lifted_sequence.h"
#include "engine/node/python_inputs.h"
#include "engine/node/python_session.h"

namespace assay::node {

class PythonLift {
 public:
  // One side of the job: its process, and why calls in it cannot be captured ("" if they can).
  struct Side {
    PythonSession* session = nullptr;
    std::string no_capture{};
    const char* name = "";  // kernel or ref_kernel
  };
  struct Setting {
    GpuPool& pool;
    RefereeSession& referee;
    PythonInputs& inputs;
    bool has_answer = false;      // of every trial, whoever runs
    std::uint32_t trials = 100;   // timed runs that were asked for
    bool may_add_trials = false;  // as KernelTask has it
    std::uint32_t warmups = 1;
    TimingMethod method = TimingMethod::automatic;
    std::string client{};             // whose job it is
    bool others_are_visible = false;  // as Runners::share_processes()
    Floor floor{};                    // of the contract
    bool works_on_contents = false;   // as TimingRequest has it
    std::stop_token stop{};
  };

  // `reference` may be null. `end_python` ends the processes of both sides.
  PythonLift(Setting setting, Side kernel, std::optional<Side> reference,
             std::function<void()> end_python);
  ~PythonLift();
  PythonLift(const PythonLift&) = delete;
  PythonLift& operator=(const PythonLift&) = delete;

  // An end only if the source is proven to cheat; a lift that fails is none.
  [[nodiscard]] std::optional<Ended> lift();

  // "" if the kernel was lifted; so was the reference, if there is one.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  // What was lifted, for other processes; both are there once it was.
  [[nodiscard]] LiftedSequence kernel_sequence() const { return sequence_of(kernel_); }
  [[nodiscard]] std::optional<LiftedSequence> reference_sequence() const;
  // A trial whose inputs were made, and are known without the source.
  [[nodiscard]] static std::uint32_t known_trial();
  // Of the kernel's captures (lift_match.h); null if there are none.
  [[nodiscard]] const nlohmann::json& launched() const { return launched_; }
  // What was measured (gpu_timing.h).
  [[nodiscard]] const nlohmann::json& measured() const { return measured_; }
  // See GpuTiming.
  [[nodiscard]] bool is_doubtful() const { return is_doubtful_; }
  // Whether the kernel was repeated by a runner that had served this client before.
  [[nodiscard]] bool runner_reused() const { return runner_reused_; }
  // {launches, steps, kernels, scratch_bytes, blanked_bytes, examined, ms}
  [[nodiscard]] nlohmann::json told() const;
  // In words.
  [[nodiscard]] std::string detail() const;

 private:
  using Step = std::optional<Ended>;
  struct Lifted {
    Side side{};
    LiftedWork work{};
    PythonSession::Programs programs{};
    std::unique_ptr<KernelSession> runner{};
    std::future<std::variant<bool, Ended>> loading{};  // of what it repeats, in that runner
    bool keeps_state = true;                           // something of its own outlasts a run
  };

  [[nodiscard]] static LiftedSequence sequence_of(const Lifted& lifted);
  [[nodiscard]] Step capture(Lifted& lifted);
  [[nodiscard]] std::variant<CapturedCall, Ended> capture_once(Lifted& lifted, std::uint32_t trial);
  [[nodiscard]] bool may_serve_again() const;
  [[nodiscard]] Step captures();
  void begin_loading();
  void wait_for_loading();
  [[nodiscard]] Step relaunches();
  [[nodiscard]] Step answers();
  [[nodiscard]] Step relaunch(Lifted& lifted);
  [[nodiscard]] Step examine(Lifted& lifted, std::uint32_t trial);
  // What would be right whatever the inputs, a source can have computed beforehand.
  [[nodiscard]] Step answers_differ();
  [[nodiscard]] std::uint64_t scratch_of_both() const;
  [[nodiscard]] Step measure();
  // Judges a repetition: anything but right ends it.
  [[nodiscard]] static Step judge(const nlohmann::json& said, std::uint32_t trial);
  // A failed step: not lifted, and why; only proof of cheating goes on.
  [[nodiscard]] Step conclude(Step ended);

  Setting setting_;
  Lifted kernel_;
  std::optional<Lifted> reference_{};
  std::function<void()> end_python_;
  unsigned discards_ = 0;  // of the pool's, before a runner was taken there
  std::chrono::nanoseconds left_;
  std::string why_not_{};
  bool goes_on_ = false;  // what ended so may be at work on the device still
  nlohmann::json launched_ = nullptr;
  nlohmann::json measured_ = nlohmann::json::object();
  bool is_doubtful_ = false;
  std::uint32_t examined_ = 0;
  bool runner_reused_ = false;
  nlohmann::json ms_ = nlohmann::json::object();  // that each part took
};

}  // namespace assay::node
