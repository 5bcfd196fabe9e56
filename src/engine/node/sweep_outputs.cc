// A sweep without a reference: each variant's outputs are held against those of the first that
// passed, as they were given, and where they differ against those of the first that differs. They
// are judged only (`until` is validated): nothing is timed for it.
#include <algorithm>
#include <utility>

#include "engine/node/stage_clock.h"
#include "engine/node/sweep_agreement.h"
#include "engine/node/sweep_job.h"

namespace assay::node {

using nlohmann::json;

void SweepJob::hold_against_each_other() {
  if (request_.contains("ref_kernel")) return;
  std::vector<SweepRow*> rows = ranked();
  if (rows.size() < 2) return;
  std::sort(rows.begin(), rows.end());  // as they were given: they are of one vector
  for (SweepRow* row : rows) {
    if (!row->outputs && row->why_not_held.empty()) find_outputs_group(*row);
  }
}

void SweepJob::find_outputs_group(SweepRow& row) {
  for (const SweepRow* other : like_none_before_) {
    if (!budget_left()) {
      row.why_not_held = "the budget was spent";
      return;
    }
    StageClock clock(reporter_, "ran");
    json request = request_for(row, kFirstTrials, With::nothing);
    request["options"]["until"] = "validated";
    request["ref_kernel"] = other->variant.at("kernel");
    const Judged judged = judge_within_budget(std::move(request), 1);
    tell(row, "held against another's outputs", clock);
    if (judged.conclusion.body.value("trust", json(nullptr)) == kSuspect) row.trust = kSuspect;
    const job::Verdict verdict = judged.conclusion.verdict;
    if (verdict == job::Verdict::passed) {
      row.outputs = other->outputs;
      return;
    }
    if (verdict != job::Verdict::wrong_output) {
      row.why_not_held = judged.conclusion.body.value("summary", "");
      if (row.why_not_held.empty()) row.why_not_held = std::string(job::name(verdict));
      return;
    }
  }
  row.outputs = static_cast<int>(like_none_before_.size()) + 1;
  // The last group's are like none before, and need not be like each other.
  if (*row.outputs < kOutputGroups) like_none_before_.push_back(&row);
}

}  // namespace assay::node
