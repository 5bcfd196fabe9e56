// The job kind `sweep`: variants of one kernel, compiled at once, each judged, then timed in
// rounds of which the better half goes on with more runs, the last ones against the best in turns.
// On the emulator, whose times rank nothing, they are ranked by the instructions that they execute,
// and equal counts are ties. Ranked with ties; at most half of the budget is for compiling, and
// what it did not reach is said. None that hangs takes what the others need.
//
// Every variant is judged by the job kind `kernel`, so a sweep believes nothing that an evaluation
// would not. Without a reference a pass says nothing of the outputs: the variants' are held against
// each other then, and where they differ there is no best. One object per job, used by the job's
// thread.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/job/kind.h"
#include "engine/node/reporter.h"
#include "engine/node/stage_clock.h"
#include "engine/node/sweep_row.h"

namespace assay::node {

// received · compiled · ran (once per evaluation) · concluded.
[[nodiscard]] job::Kind sweep_kind();

// Judges one kernel; the conclusion's `stages` are those it told.
using KernelJudge =
    std::function<Conclusion(const nlohmann::json& request, const std::stop_token& stop)>;

// What a stage of that name said; null if there was none.
[[nodiscard]] const nlohmann::json* stage_of(const Conclusion& conclusion, const char* name);

class SweepJob {
 public:
  // `request`: {variants: [{name, parameters, kernel}], ref_kernel?, options, budget_s}; kernels
  // and options as a kernel job takes them (kernel_task.h). Borrows `reporter`.
  SweepJob(nlohmann::json request, KernelJudge judge, Reporter& reporter, std::stop_token stop);

  [[nodiscard]] Conclusion run();

 private:
  enum class With { nothing, reference };
  static constexpr std::uint32_t kFirstTrials = 10;

  // What is not begun by then stays as it is.
  void compile(std::chrono::steady_clock::time_point until);
  void measure_in_rounds();
  // What the first round cut, with what is left and as if nobody waited for it.
  void try_cut_again();
  struct Judged {
    Conclusion conclusion{};
    double limit_s = 0;
    bool is_cut = false;  // by the budget: it asked for more
  };
  // Throws JobStopped. Execution has what it asked for, or else its share of the budget's rest,
  // which `waiting` (at least 1, itself among them) are to have: sweep_allowance.cc.
  [[nodiscard]] Judged judge_within_budget(nlohmann::json request, std::size_t waiting);
  // One round's for one row; `waiting` as above.
  void evaluate(SweepRow& row, std::uint32_t trials, std::size_t waiting);
  // Those that passed and were not yet, where no reference says what is right.
  void hold_against_each_other();
  void find_outputs_group(SweepRow& row);
  void stay_on_device(const Conclusion& conclusion);
  void take_measurement(SweepRow& row, const Conclusion& conclusion);
  // All by the same clock: cold runs, or graphs where some are too short for events and all have
  // one.
  void rank_by_one_clock();
  void find_ties();
  // Against the best of them; the one that was faster beside it, if any was.
  [[nodiscard]] SweepRow* compare_with(SweepRow& best, const std::vector<SweepRow*>& ranked);
  // The next whose slope is apart from the best one's, if side by side it is no slower: then that
  // slope is not believed.
  [[nodiscard]] SweepRow* no_slower_beside(SweepRow& best, const std::vector<SweepRow*>& ranked);
  // Noted in the row; "" where there is none, or the row is suspect by it.
  [[nodiscard]] std::string verdict_beside(SweepRow& row, const SweepRow& best);
  // Which of the two leads, everything compared with it.
  [[nodiscard]] SweepRow* settle(SweepRow& alone, SweepRow& other);
  void forget_comparisons();
  struct Compared {
    nlohmann::json speedup = nullptr;  // the ratio and what belongs to it, if there is one
    bool is_suspect = false;           // the row, by what was seen beside the other
    std::string why{};                 // there is no ratio
  };
  [[nodiscard]] Compared compare(const SweepRow& row, const SweepRow& with);
  void find_equal_counts();
  [[nodiscard]] bool budget_left() const;
  [[nodiscard]] nlohmann::json request_for(const SweepRow& row, std::uint32_t trials,
                                           With with) const;
  [[nodiscard]] std::vector<SweepRow*> alive();
  // Measured, and nothing speaks against them, unless something does against all: the best first.
  [[nodiscard]] std::vector<SweepRow*> ranked();
  void tell(const SweepRow& row, const char* what, StageClock& clock) const;
  [[nodiscard]] Conclusion conclude();

  const nlohmann::json request_;
  std::string device_{};  // where all variants run, once one has
  KernelJudge judge_;
  Reporter& reporter_;
  std::stop_token stop_;
  std::vector<SweepRow> rows_{};  // at least one
  std::chrono::steady_clock::time_point until_{};
  std::vector<const SweepRow*> like_none_before_{};  // whose outputs: the first of each group
  bool ties_are_open_ = false;  // the budget ended before all that may be one was compared
  bool by_time_ = true;         // false: an emulator's times rank nothing, its instructions do
};

}  // namespace assay::node
