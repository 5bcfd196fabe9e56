// A job kind declares the stages it passes through, the state each stage is worked in, and the
// verdicts it may end with; the journal refuses anything else. Values; any thread. main() passes
// the list of kinds; nothing registers itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job/verdict.h"

namespace assay::job {

struct Stage {
  std::string name{};
  // The state of a job that works on this stage, that is: has recorded the one before it.
  State during = State::submitted;
};

struct Kind {
  std::string name{};
  std::vector<Stage> stages{};  // in order
  std::vector<Verdict> verdicts{};

  [[nodiscard]] bool has_stage(std::string_view stage) const;
  [[nodiscard]] bool has_verdict(Verdict verdict) const;
};

// One kernel judged: received · compiled · prepared · validated · timed · profiled · concluded.
[[nodiscard]] Kind kernel_kind();

// The state of an unfinished job that has just recorded `stage`: the one of the stage that comes
// next, and nothing told that does not take place. After a stage that failed or was skipped, and
// after `last_asked` (empty: all stages are), the job works on no later one. Nothing (the state it
// has stays) after the kind's last stage, since only a conclusion makes a state final. Throws
// std::invalid_argument for a stage the kind does not declare.
[[nodiscard]] std::optional<State> state_after(const Kind& kind, std::string_view stage,
                                               StageStatus status,
                                               std::string_view last_asked = {});
// The state of a concluded job. A negative verdict is a completed evaluation all the same.
[[nodiscard]] State final_state(Verdict verdict);

}  // namespace assay::job
