// The job kind `kernel`: one source, a contract, perhaps a reference, through compiled · prepared ·
// validated · timed · profiled · concluded. Each stage is told, and acknowledged, before the next
// begins; whatever the reference completed is kept when the candidate fails.
//
// One object per job, used by the job's thread.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "engine/node/compilation.h"
#include "engine/node/double_reference.h"
#include "engine/node/gpu_lease.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/gpu_profile.h"
#include "engine/node/kernel_inspection.h"
#include "engine/node/kernel_session.h"
#include "engine/node/python_reference.h"
#include "engine/node/referee_session.h"
#include "engine/node/reporter.h"
#include "engine/node/runners.h"

namespace assay::node {

class KernelJob {
 public:
  // `gpu`: the device to run on; null for the emulator.
  KernelJob(const Runners& runners, const Compiler& compiler, Pythons& pythons, GpuPool* gpu,
            KernelTask task, Reporter& reporter, std::stop_token stop);
  ~KernelJob();
  KernelJob(const KernelJob&) = delete;
  KernelJob& operator=(const KernelJob&) = delete;

  [[nodiscard]] Conclusion run();

 private:
  using Step = std::optional<Ended>;  // nothing: go on

  void start_runners();
  // On a device in a process that served `client` before, if there is one; "": in a fresh one.
  [[nodiscard]] std::unique_ptr<KernelSession> start_session(const std::string& argument,
                                                             GpuPool::Side side,
                                                             const std::string& client);
  [[nodiscard]] bool may_serve_again(GpuPool::Side side) const;
  // A fresh process with the same program, in place of the one that was used so far.
  [[nodiscard]] std::variant<KernelSession*, Ended> renew(bool is_reference);
  void end_runners();  // of the emulator, all at once
  // What went wrong on the device is dead before that is another's.
  void end_failed(Step& ended);
  // Those of its processes that may be at work there; false: one could not be killed.
  [[nodiscard]] bool end_at_work(bool spares_reference);
  void give_back(KernelSession& session, GpuPool::Side side, GpuPool::Used& used) const;
  [[nodiscard]] CompileGoal goal() const;
  [[nodiscard]] Step compile_stage();
  [[nodiscard]] Step list_stage();
  [[nodiscard]] Step compile_reference(nlohmann::json& body, std::vector<Artifact>& artifacts);
  [[nodiscard]] Step prepare_stage();
  [[nodiscard]] std::string device_name() const;
  [[nodiscard]] Step refuse_size() const;
  // Types that are doubtful for the contract, and constants that nobody fills.
  void warn_of_contract(const std::string& display_name);
  [[nodiscard]] Step lease_device(nlohmann::json& body);
  [[nodiscard]] Step prepare_reference(nlohmann::json& body);
  [[nodiscard]] Step compile_in_double(nlohmann::json& body, std::vector<Artifact>& artifacts);
  [[nodiscard]] Step prepare_in_double(const Loaded& reference);
  [[nodiscard]] Step validate_stage();
  [[nodiscard]] Step lease_again();
  [[nodiscard]] Step timed_stage();
  [[nodiscard]] Step gpu_timed_stage();
  [[nodiscard]] Step emulated_timed_stage();
  void name_ranges();
  void note_ranges();
  // What the launch takes of a multiprocessor, where that is known.
  void tell_resources(const KernelSource& source, const Program& program, const std::string& entry,
                      nlohmann::json& body) const;
  void profile_stage();
  void gpu_profile_stage();
  void generalise_stage();
  struct Hidden {
    Conclusion conclusion{};
    nlohmann::json expected = nlohmann::json::object();  // as this job's
  };
  [[nodiscard]] Hidden judge_hidden(KernelTask part);
  // The same task, its outputs held to as many times the absolute tolerance as they are larger than
  // those of the task that was asked; nothing where they are not.
  [[nodiscard]] std::optional<KernelTask> eased(KernelTask part, const nlohmann::json& expected,
                                                nlohmann::json& told) const;
  [[nodiscard]] nlohmann::json generalised_line(const HiddenTask& hidden);
  [[nodiscard]] std::string why_unjudged(KernelTask part);
  void note_broken(const nlohmann::json& line);
  [[nodiscard]] InspectionRun inspection();
  // `ended`: how the runs before ended, if they did.
  [[nodiscard]] nlohmann::json checks_made(const Step& ended);
  [[nodiscard]] std::string summary_of_passed() const;
  [[nodiscard]] std::string summary_of_failed(const Ended& ended) const;
  [[nodiscard]] Conclusion conclude(const Step& ended);

  // One arena through the reference; what the kernel must give is known afterwards.
  [[nodiscard]] Step run_reference(std::uint32_t trial, nlohmann::json& said, Ran& ran);
  // Likewise in double, beside what it must give.
  [[nodiscard]] Step run_reference_in_double(std::uint32_t trial);
  // The first trial's inputs once more; on the emulator in another order of warps.
  [[nodiscard]] Step run_again(nlohmann::json& body);
  // One arena through one kernel; what the referee says of it lands in `said`.
  void fill_ahead();
  [[nodiscard]] Step stage_ahead();
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t trial) const;
  [[nodiscard]] Step launch(KernelSession& session, std::uint32_t trial, Ran& ran,
                            bool to_the_barrier = false);
  [[nodiscard]] Step trials_together(nlohmann::json& body);
  void tell_first(const Ran& ran, nlohmann::json& body);
  [[nodiscard]] Step run_once(KernelSession& session, std::uint32_t trial, nlohmann::json& said,
                              Ran& ran, bool to_the_barrier = false);
  [[nodiscard]] Step validation_trial(std::uint32_t trial, nlohmann::json& body);
  void look_for_same_answers(std::uint32_t trial);
  // Whether the reference follows what the contract fixes of its inputs.
  [[nodiscard]] Step look_for_fixed_inputs();
  [[nodiscard]] Step judge_trial(std::uint32_t trial, const nlohmann::json& said,
                                 nlohmann::json& body);
  // Findings that speak of the kernel; what only the order of atomics explains becomes a warning.
  [[nodiscard]] nlohmann::json without_rounding(const nlohmann::json& findings);

  const Runners& runners_;
  const Compiler& compiler_;
  Pythons& pythons_;
  GpuPool* gpu_;
  KernelTask task_;
  Reporter& reporter_;
  std::stop_token stop_;
  std::optional<Program> program_{};
  std::optional<Program> reference_program_{};
  std::unique_ptr<RefereeSession> referee_{};
  std::unique_ptr<KernelSession> kernel_{};
  std::unique_ptr<KernelSession> reference_{};  // of the reference this or the next, if any
  std::optional<PythonReference> python_reference_{};
  std::optional<DoubleReference> double_reference_{};  // where it is asked for, of a cuda reference
  std::optional<GpuLease> lease_{};
  std::optional<GpuProfile> profile_{};
  TimingFacts kernel_timing_{};
  TimingFacts reference_timing_{};
  std::chrono::nanoseconds execution_left_{0};
  std::chrono::nanoseconds longest_run_{0};   // of the kernel, when it was validated
  std::chrono::nanoseconds runners_wait_{0};  // until the processes of this job were there
  bool ran_ = false;                          // device code has run: trust means something
  bool clean_ = false;                        // it passed, and nothing speaks against it
  bool reference_clean_ = false;              // nothing went wrong in the reference's runner
  bool repeats_ = true;                       // no runner ended in a view that counts for nothing
  bool same_answers_ = false;                 // the reference's, to all trials so far
  std::vector<LentArena> filled_{};           // each trial's, until it runs
  bool staged_ahead_ = false;                 // what is timed begins with: their contents
  bool fills_ahead_ = false;                  // each trial has an arena of its own
  unsigned discards_ = 0;                     // of the pool's, before anything was taken there
  bool hung_ = false;                         // it did not end within its time
  bool runner_reused_ = false;                // the process that it was asked of first
  bool reference_runner_reused_ = false;
  nlohmann::json evidence_ = nlohmann::json::array();
  nlohmann::json strays_ = nlohmann::json::array();  // loads out of bounds of a run on the emulator
  nlohmann::json warnings_ = nlohmann::json::array();
  bool lost_reference_ = false;                         // on contents that the task does not have
  bool follows_fixed_ = false;                          // the reference what the contract fixes
  std::chrono::nanoseconds reference_run_{0};           // how long the last one took
  nlohmann::json expected_ = nlohmann::json::object();  // first (runner/examiner.h)
  std::string weak_{};             // why a pass proves little; "" if nothing speaks for that
  std::string output_{};           // device printf
  std::string checks_sentence_{};  // what `checks` found
  std::string generalised_sentence_{};
  std::string compiled_summary_{};  // of a listing
};

}  // namespace assay::node
