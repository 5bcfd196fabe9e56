// The closed vocabulary of how jobs and stages stand. Names are fixed: clients and the journal rely
// on them. Pure values; any thread.
#pragma once

#include <optional>
#include <string_view>

namespace assay::job {

// How a job ended. All but engine_fault are successful evaluations of what was asked.
enum class Verdict {
  passed,
  compile_failed,
  contract_invalid,
  launch_failed,
  wrong_output,
  crashed,
  timed_out,
  out_of_memory,
  unsupported,
  cancelled,
  engine_fault,
  failed,  // of plans, generators, commits and scenarios: what was asked is not met
};

// Where a job is; `not_found` is an answer, not a state a job can have.
enum class State {
  submitted,
  compiling,
  validating,
  profiling,
  completed,
  failed,
  cancelled,
  interrupted,  // its server or engine ended before it did
};

enum class StageStatus { passed, failed, skipped };

enum class Trust { verified, audited, suspect, rejected };

[[nodiscard]] std::string_view name(Verdict verdict);
[[nodiscard]] std::string_view name(State state);
[[nodiscard]] std::string_view name(StageStatus status);
[[nodiscard]] std::string_view name(Trust trust);

[[nodiscard]] std::optional<Verdict> verdict_from(std::string_view text);
[[nodiscard]] std::optional<State> state_from(std::string_view text);
[[nodiscard]] std::optional<StageStatus> stage_status_from(std::string_view text);

// Nothing more will happen to a job in such a state.
[[nodiscard]] bool is_final(State state);

}  // namespace assay::job
