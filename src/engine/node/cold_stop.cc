#include "engine/node/cold_stop.h"

#include <algorithm>
#include <cmath>

#include "engine/node/median.h"
#include "engine/node/median_interval.h"

namespace assay::node {
namespace {

// How many the budget has left, of runs as long as the median.
std::uint32_t affordable(const ColdSoFar& so_far, double median_ns) {
  const auto taken = static_cast<double>(so_far.samples_ns.size());
  const double each_ns = median_ns + so_far.beside_ns;
  const double added_ns = std::max(taken - so_far.asked, 0.0) * each_ns;
  const double budget_ns = std::min(kAddedBudgetNs - added_ns, so_far.left_ns / 4);
  const double by_time = std::max(budget_ns, 0.0) / std::max(each_ns, 1.0);
  const double by_count = double{kMostTimesAsked} * so_far.asked - taken;
  return static_cast<std::uint32_t>(std::clamp(std::min(by_time, by_count), 0.0, 1e6));
}

}  // namespace

std::string_view name(StoppedBy stopped_by) {
  switch (stopped_by) {
    case StoppedBy::interval:
      return "interval";
    case StoppedBy::resolution:
      return "resolution";
    case StoppedBy::num_trials:
      return "num_trials";
    case StoppedBy::budget:
      return "budget";
  }
  return "";
}

ColdNext next_cold_runs(const ColdSoFar& so_far) {
  ColdNext next;
  const double median_ns = median(so_far.samples_ns);
  const auto interval = median_interval(so_far.samples_ns);
  const double half_ns = interval ? (interval->second - interval->first) / 2 : 0;
  if (interval && median_ns > 0) next.half_share = half_ns / median_ns;
  if (so_far.was_cut) {
    next.stopped_by = StoppedBy::budget;
    return next;
  }
  if (!so_far.may_add || !interval || median_ns <= 0) return next;
  if (*next.half_share <= kEnoughOfMedian) {
    next.stopped_by = StoppedBy::interval;
    return next;
  }
  if (half_ns <= kEventResolutionNs) {
    next.stopped_by = StoppedBy::resolution;
    return next;
  }
  next.stopped_by = StoppedBy::budget;
  // An interval narrows with the root of the number.
  const auto taken = static_cast<double>(so_far.samples_ns.size());
  const double goal_ns = std::max(kEnoughOfMedian * median_ns, kEventResolutionNs);
  const double missing = taken * (half_ns * half_ns / (goal_ns * goal_ns) - 1);
  const double wanted = std::max({missing, so_far.asked / 2.0, 1.0});
  next.more =
      static_cast<std::uint32_t>(std::min(std::ceil(wanted), 1.0 * affordable(so_far, median_ns)));
  return next;
}

}  // namespace assay::node
