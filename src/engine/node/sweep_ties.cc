// Of SweepJob: which variant leads once they are held against each other side by side, and which
// cannot be told from it.
#include <algorithm>
#include <string_view>

#include "engine/node/sweep_job.h"

namespace assay::node {
namespace {

using nlohmann::json;

// Slower than the best by more than this is no tie, whatever the interval.
constexpr double kWorthComparing = 1.10;
// Counts of instructions say nothing finer: within this of the best a variant is tied with it.
constexpr double kSameCount = 1.01;

// How much longer than the best it takes: as side by side, or else as each was alone.
double share_of(const SweepRow& row, const SweepRow& best) {
  const double ratio = row.against_best.is_object() ? row.against_best.value("ratio", 0.0) : 0.0;
  const double share = ratio > 0 ? 1 / ratio : best.cold_ns > 0 ? row.cold_ns / best.cold_ns : 1;
  return std::max(share, 1.0);
}

}  // namespace

void SweepJob::find_ties() {
  rank_by_one_clock();
  const std::vector<SweepRow*> rows = ranked();
  if (rows.size() < 2) return;
  // A slope is believed no sooner than side by side: a kernel that does less on what the launch
  // before has left has the least of all.
  SweepRow* best = *std::min_element(rows.begin(), rows.end(), is_quicker_alone);
  SweepRow* const alone = best;
  if (SweepRow* faster = compare_with(*best, rows); faster != nullptr) {
    best = faster;
    forget_comparisons();
    (void)compare_with(*best, ranked());
  } else {
    while (SweepRow* next = no_slower_beside(*best, rows)) best = next;
    if (best != alone) best = settle(*alone, *best);
  }
  // What two take side by side says more than what each took by itself.
  best->leads = true;
  for (SweepRow* row : rows) {
    if (row == best || row->cost >= best->cost) continue;
    row->cost = best->cost * share_of(*row, *best);
    row->cost_basis = "beside_best";
  }
}

SweepRow* SweepJob::compare_with(SweepRow& best, const std::vector<SweepRow*>& ranked) {
  SweepRow* faster = nullptr;
  double most = 1;
  for (SweepRow* row : ranked) {
    if (row == &best || row->cost > best.cost * kWorthComparing) continue;
    if (!budget_left()) {
      ties_are_open_ = true;
      break;
    }
    const std::string verdict = verdict_beside(*row, best);
    if (verdict.empty()) continue;
    row->tied = verdict == "indistinguishable";
    const double ratio = row->against_best.value("ratio", 1.0);
    if (verdict == "faster" && ratio > most) {
      faster = row;
      most = ratio;
    }
  }
  return faster;
}

std::string SweepJob::verdict_beside(SweepRow& row, const SweepRow& best) {
  const Compared compared = compare(row, best);
  if (compared.is_suspect) row.trust = kSuspect;
  if (!compared.speedup.is_object()) {
    row.against_best = {{"verdict", "not_compared"}, {"why", compared.why}};
    return {};
  }
  row.against_best = compared.speedup;
  return compared.is_suspect ? std::string() : row.against_best.value("verdict", "");
}

// Without those that have become suspect meanwhile.
void SweepJob::forget_comparisons() {
  for (SweepRow* row : ranked()) {
    row->against_best = nullptr;
    row->tied = false;
  }
}

// Alone they differ by less than events resolve, and the quickest may be so by chance: its slope is
// held against the next that is not its like, and of which something can be said.
SweepRow* SweepJob::no_slower_beside(SweepRow& best, const std::vector<SweepRow*>& ranked) {
  if (std::string_view(best.cost_basis) != "graph") return nullptr;
  for (SweepRow* row : ranked) {
    if (row == &best || row->is_suspect() || row->cost <= best.cost * kWorthComparing) continue;
    if (!budget_left()) {
      ties_are_open_ = true;
      return nullptr;
    }
    const std::string verdict = verdict_beside(*row, best);
    if (verdict.empty()) continue;
    return verdict == "slower" ? nullptr : row;
  }
  return nullptr;
}

// `alone` leads by its slope, `other` is no slower beside one that led so: it leads, unless the
// first is faster when it is the one that is looked at.
SweepRow* SweepJob::settle(SweepRow& alone, SweepRow& other) {
  forget_comparisons();
  alone.tied = true;  // as it was found, if nothing more can be asked
  if (compare_with(other, ranked()) != &alone) return &other;
  forget_comparisons();
  (void)compare_with(alone, ranked());
  return &alone;
}

SweepJob::Compared SweepJob::compare(const SweepRow& row, const SweepRow& with) {
  StageClock clock(reporter_, "ran");
  json request = request_for(row, request_.at("options").at("num_trials"), With::nothing);
  request["ref_kernel"] = with.variant.at("kernel");
  const auto [conclusion, limit_s, is_cut] = judge_within_budget(std::move(request), 1);
  ties_are_open_ |= is_cut;
  Compared compared{.is_suspect = conclusion.body.value("trust", json(nullptr)) == kSuspect};
  const json* timed = stage_of(conclusion, "timed");
  if (conclusion.verdict == job::Verdict::passed && timed != nullptr) {
    compared.speedup = timed->value("speedup", json());
  }
  if (!compared.speedup.is_object()) {
    // Beside the best it is held against that one's outputs, which are within a tolerance
    // themselves.
    compared.why = is_cut ? "cut by the budget" : conclusion.body.value("summary", "");
    if (compared.why.empty()) compared.why = std::string(job::name(conclusion.verdict));
  }
  tell(row, "compared with the best", clock);
  return compared;
}

// They are what they are, whoever counts: no comparison is needed.
void SweepJob::find_equal_counts() {
  const std::vector<SweepRow*> rows = ranked();
  for (SweepRow* row : rows) {
    row->tied = row != rows.front() && row->cost <= rows.front()->cost * kSameCount;
  }
}

}  // namespace assay::node
