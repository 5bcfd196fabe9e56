// Of PythonJob: a wrong output that is no matter of arithmetic, because one of the two sides gives
// something else each time.
#include <algorithm>

#include "engine/node/python_job.h"
#include "engine/node/referee_slots.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;

constexpr const char* kRepeats = "repeat_differs";

bool is_of(const json& finding, const char* whose) {
  return finding.at("check") == kRepeats && finding.value("which", whose) == whose;
}

}  // namespace

bool PythonJob::reference_changes() {
  auto arena = inputs_->fill(0, kAgainSlot);
  if (!std::holds_alternative<LentArena>(arena)) return false;
  auto ran =
      reference_->run(std::get<LentArena>(std::move(arena)), inputs_->seed(0), execution_left_);
  if (!std::holds_alternative<PythonClaims>(ran)) return false;
  // Against what it gave itself for this trial.
  auto again = referee_->check(kAgainSlot);
  const auto* said = std::get_if<json>(&again);
  return said != nullptr && !said->at("ok").get<bool>();
}

bool PythonJob::kernel_changes() {
  const auto known = [&] {
    return std::any_of(evidence_.begin(), evidence_.end(),
                       [](const json& item) { return is_of(item, "kernel"); });
  };
  if (known()) return true;
  json said;
  if (run_once(*kernel_, 0, said)) return false;
  note_findings(evidence_, said.at("findings"), "kernel", 0);
  return known();
}

PythonJob::Step PythonJob::blame_state(Step wrong) {
  const bool is_wrong = wrong && wrong->verdict == Verdict::wrong_output;
  // Two calls more: not for what takes most of the time that there is.
  if (!is_wrong || !wrong->detail.contains("output") || typical_ * 4 > execution_left_) {
    return wrong;
  }
  if (reference_ && reference_changes()) {
    Ended ended{.verdict = Verdict::contract_invalid,
                .summary =
                    "Called again on the same inputs it gives other values: it keeps state between "
                    "calls, or leaves something to chance. What it gives must depend on its "
                    "arguments and weights alone; nothing can be judged by it.",
                .detail = wrong->detail};
    ended.detail["why"] = "stateful";
    evidence_.push_back({{"check", kRepeats},
                         {"result", "disagrees"},
                         {"which", "ref_kernel"},
                         {"detail", "two calls on the inputs of trial 0"}});
    return about_reference(std::move(ended));
  }
  if (kernel_changes()) {
    wrong->detail["why"] = "stateful";
    wrong->summary +=
        " Called again on the same inputs it gives other values: it keeps state between calls, "
        "races with itself, or reads what it never wrote.";
  }
  return wrong;
}

}  // namespace assay::node
