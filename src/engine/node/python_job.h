// A job of kind `kernel` whose sources are Python: torch, torch_cuda and multi_kernel, on CPU
// tensors or on a GPU's. The stages are those of a KernelJob. Reference and candidate run in two
// confined processes forked from one zygote; the referee makes inputs and judges outputs, as for
// every kernel; the clock is the engine's (python_timing.h). User code runs in the process that is
// timed, so that a pass is `audited` at most, unless what it launches is lifted out of it
// (python_lift.h).
//
// One object per job, used by the job's thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "engine/node/gpu_lease.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/gpu_profile.h"
#include "engine/node/lifted_sequence.h"
#include "engine/node/python_inputs.h"
#include "engine/node/python_spares.h"
#include "engine/node/reporter.h"
#include "engine/node/runners.h"

namespace assay::node {

// Why this engine cannot judge what is Python in a task, if it cannot: nothing is started for it.
// `gpu`: the device that Python runs on; null for CPU tensors.
[[nodiscard]] std::optional<Ended> unsupported_python(const KernelTask& task, const Gpu* gpu);

class PythonJob {
 public:
  // `gpu` and `spares`: of the GPU to run on; null for CPU tensors.
  // `wrappers`: with what torch_cuda sources are built.
  PythonJob(const Runners& runners, PythonZygote& zygote, GpuPool* gpu, PythonSpares* spares,
            WrapperTools wrappers, KernelTask task, Reporter& reporter, std::stop_token stop);
  ~PythonJob();
  PythonJob(const PythonJob&) = delete;
  PythonJob& operator=(const PythonJob&) = delete;

  [[nodiscard]] Conclusion run();

 private:
  using Step = std::optional<Ended>;

  [[nodiscard]] Step start_runners();
  [[nodiscard]] std::variant<std::unique_ptr<PythonSession>, Ended> start_session(
      const char* which);
  [[nodiscard]] Step compile_stage();
  // `debug`: what it builds of device code is a debug build.
  [[nodiscard]] Step load(PythonSession& session, const KernelSource& source, bool is_candidate,
                          PythonLoaded& loaded, bool debug = false);
  [[nodiscard]] Step prepare_stage();
  [[nodiscard]] Step lease_device(nlohmann::json& body);
  void end_on_device(Step& ended);
  [[nodiscard]] Step complete_contract();
  [[nodiscard]] Step take_own_inputs();
  [[nodiscard]] Step add_outputs();
  // What the tensors need, by their shapes alone.
  [[nodiscard]] Step too_large() const;
  [[nodiscard]] Step bind_both();
  [[nodiscard]] Step validate_stage();
  void look_for_same_answers(std::uint32_t trial);
  [[nodiscard]] Step validation_trial(std::uint32_t trial, nlohmann::json& body);
  [[nodiscard]] Step run_once(PythonSession& session, std::uint32_t trial, nlohmann::json& said);
  // Likewise, in `left` of the time that executing may take.
  [[nodiscard]] Step run_once(PythonSession& session, std::uint32_t trial, nlohmann::json& said,
                              std::chrono::nanoseconds& left);
  // A wrong output as it was told, or with what it comes from: a side that gives something else
  // when it is called again on the same inputs.
  [[nodiscard]] Step blame_state(Step wrong);
  [[nodiscard]] bool reference_changes();
  [[nodiscard]] bool kernel_changes();
  // Inputs that are the same each time could have been answered beforehand: whether the kernel
  // follows others, too.
  [[nodiscard]] Step try_other_contents();
  // Likewise where only some are the same each time, beside others that are drawn.
  [[nodiscard]] Step try_constant_inputs();
  // Likewise where the contract fixes some beside others that are drawn: whether the reference
  // follows those.
  [[nodiscard]] Step look_for_fixed_inputs();
  // The one way to ask the reference for an answer to other contents than the task's. `why_not`:
  // if it came to none.
  [[nodiscard]] Step ask_reference_otherwise(
      const std::function<Step(std::chrono::nanoseconds& left)>& ask, std::string& why_not);
  [[nodiscard]] Step renew_reference();
  // Both sides, `why_not` as above; an end is the kernel's, or that no reference is left.
  [[nodiscard]] Step run_on_other_contents(nlohmann::json& said, const std::string& of,
                                           std::string& why_not);
  [[nodiscard]] Step timed_stage();
  // Repeats what the source launches without it, and puts that in the place of what `body` has of
  // it; evidence says whether and why not. An end only if it is proven to cheat.
  [[nodiscard]] Step lift(nlohmann::json& body);
  [[nodiscard]] std::string why_no_lift() const;
  void end_python();
  // Of what was lifted: counters of hardware, and `checks` by compute-sanitizer, whose findings are
  // told as the timed stage's.
  void profile_stage();
  [[nodiscard]] nlohmann::json checks_made();
  [[nodiscard]] nlohmann::json checks_of_lifted();
  // Whether it may launch kernels on the emulator, where `checks` look at them.
  [[nodiscard]] bool launches_on_emulator() const;
  // Of its launches on the inputs of trial 0, in a process of their own, which is not judged. At
  // most what an inspection may take, where so much of the execution's time is left.
  [[nodiscard]] nlohmann::json checks_of_launches(const Step& ended,
                                                  std::chrono::nanoseconds execution_left);
  // `compile_ms`: gains what its device code took to compile.
  [[nodiscard]] std::variant<InspectedCall, Ended> look_at_launches(
      std::vector<std::string> what, std::chrono::nanoseconds execution_left, double& compile_ms);
  void note_forged();
  // As check_locals() does of a `cuda` kernel.
  void look_at_locals(nlohmann::json& checks, std::chrono::nanoseconds execution_left);
  [[nodiscard]] Step judge_trial(std::uint32_t trial, const nlohmann::json& said,
                                 nlohmann::json& body);
  void note_claims(const PythonClaims& claims);
  // Of torch_cuda: who built it, and whether its kernels were launched.
  void note_build(const nlohmann::json& built);
  void note_launches();
  // On fresh inputs, twice: the last thing that the kernel's process does.
  [[nodiscard]] bool is_right_without_launches();
  // Of what they wrote more than is kept.
  void note_output();
  void note_chosen(nlohmann::json& body);
  // Whether launches are executed by the emulator, so that no time of theirs means anything.
  [[nodiscard]] bool is_emulated() const;
  [[nodiscard]] nlohmann::json trust(const Step& ended, bool suspect) const;
  [[nodiscard]] Conclusion conclude(const Step& ended);
  [[nodiscard]] std::string summary_of_passed() const;

  // The one whose word counts for shapes and inputs.
  [[nodiscard]] PythonSession& oracle() { return reference_ ? *reference_ : *kernel_; }

  const Runners& runners_;
  PythonZygote& zygote_;
  WrapperTools wrappers_;
  GpuPool* pool_;
  PythonSpares* spares_;
  const Gpu* gpu_;
  KernelTask task_;
  Reporter& reporter_;
  std::stop_token stop_;
  unsigned discards_ = 0;  // of the pool's, before the referee was taken there
  std::unique_ptr<RefereeSession> referee_{};
  std::unique_ptr<PythonSession> kernel_{};
  std::unique_ptr<PythonSession> reference_{};
  PythonLoaded kernel_loaded_{};
  PythonLoaded reference_loaded_{};
  std::optional<GpuLease> lease_{};
  contract::Contract contract_{};            // of the kernel: complete once prepared
  contract::Contract called_{};              // in the kernel's order, without outputs added to it
  contract::Contract reference_contract_{};  // its order of arguments
  PythonSession* provider_ = nullptr;        // of inputs; null: the contract
  nlohmann::json input_groups_{};            // of get_inputs(); null: each is an argument
  std::optional<PythonInputs> inputs_{};
  std::chrono::nanoseconds execution_left_{0};
  InputTime input_time_{};               // of get_inputs(), which is not execution
  std::chrono::nanoseconds typical_{0};  // of the slower side's last run
  bool ran_ = false;
  bool same_answers_ = false;   // the reference's, to all trials so far
  bool same_contents_ = false;  // of all inputs, in every call
  bool follows_fixed_ = false;  // the reference what the contract fixes
  bool lifted_ = false;
  std::string why_no_lift_{};  // "": nobody has tried
  // What was lifted, where more than times was asked of it.
  std::optional<LiftedSequence> kernel_sequence_{};
  std::optional<LiftedSequence> reference_sequence_{};
  TimingFacts kernel_timing_{};
  TimingFacts reference_timing_{};
  std::optional<GpuProfile> profile_{};
  std::string checks_sentence_{};      // what `checks` found
  std::uint64_t launches_ = 0;         // of the kernel's, on CPU tensors
  std::vector<std::string> chosen_{};  // of its autotuned kernels, where none is timed
  nlohmann::json evidence_ = nlohmann::json::array();
  nlohmann::json warnings_ = nlohmann::json::array();
  std::string weak_{};
};

}  // namespace assay::node
