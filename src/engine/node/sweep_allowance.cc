// How long one variant of a sweep may run, so that one that hangs leaves the others their time.
#include <algorithm>
#include <utility>

#include "engine/node/sweep_job.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// What an honest kernel is not cut below: the least `timeout` that a caller may ask for, unless
// that is more than a third of what is left, and whatever is left enough to start and run once.
constexpr double kHonestSeconds = 5;
constexpr double kHonestShare = 1.0 / 3;
constexpr double kLeastSeconds = 1;

double allowance_s(double left_s, std::size_t waiting) {
  const double honest_s = std::min(kHonestSeconds, left_s * kHonestShare);
  return std::max({left_s / static_cast<double>(waiting), honest_s, kLeastSeconds});
}

}  // namespace

bool SweepJob::budget_left() const { return Clock::now() < until_; }

void SweepJob::try_cut_again() {
  std::vector<SweepRow*> cut;
  bool any_measured = false;
  for (SweepRow& row : rows_) {
    if (row.cut_after_s > 0) cut.push_back(&row);
    any_measured |= row.measured;
  }
  const auto wanted = request_.at("options").at("num_trials").get<std::uint32_t>();
  for (std::size_t i = 0; i < cut.size(); ++i) {
    // One share is for comparing those that are measured.
    const std::size_t waiting = cut.size() - i + (any_measured ? 1 : 0);
    const double left_s = std::chrono::duration<double>(until_ - Clock::now()).count();
    if (!budget_left() || allowance_s(left_s, waiting) <= cut[i]->cut_after_s) continue;
    evaluate(*cut[i], std::min(kFirstTrials, wanted), waiting);
    any_measured |= cut[i]->measured;
  }
}

SweepJob::Judged SweepJob::judge_within_budget(json request, std::size_t waiting) {
  const double left_s = std::chrono::duration<double>(until_ - Clock::now()).count();
  Judged judged{.limit_s = allowance_s(left_s, waiting)};
  json& timeout = request["options"]["timeout"];
  const bool asked_for_more = timeout.get<double>() > judged.limit_s;
  if (asked_for_more) timeout = judged.limit_s;
  judged.conclusion = judge_(request, stop_);
  if (stop_.stop_requested()) throw JobStopped();
  judged.is_cut = asked_for_more && judged.conclusion.verdict == job::Verdict::timed_out;
  return judged;
}

}  // namespace assay::node
