#include "engine/node/wall_clock.h"

#include <algorithm>
#include <cmath>

namespace assay::node {
namespace {

using nlohmann::json;

std::string in_us(double ns) {
  const auto tenths = std::llround(ns * 1e-2);
  return std::to_string(tenths / 10) + "." + std::to_string(std::abs(tenths % 10)) + " us";
}

bool is_far_below_slope(const ClaimedTimes& times) {
  const double doubt_ns =
      kColdDoubtNs * static_cast<double>(std::max<std::size_t>(times.kernels, 1));
  return times.cold_ns > 0 && times.slope_ns > kMostTimesCold * times.cold_ns + doubt_ns;
}

std::string far_below_slope(const ClaimedTimes& times) {
  return "alone, with cold caches, it takes " + in_us(times.cold_ns) + ", and " +
         in_us(times.slope_ns) + " a launch in a graph, where the host's clock agrees";
}

std::string doubt_of(const std::optional<WallClaim>& claim, const ClaimedTimes& times) {
  if (claim) return is_far_below_slope(times) ? far_below_slope(times) : std::string();
  if (times.told_cold_ns <= 0 || is_held_by_question(times)) return {};
  return "no graph of it was timed, and by a host's clock its runs are lost among what is done "
         "between them";
}

std::string why_of(const std::optional<WallClaim>& claim, const ClaimedTimes& times) {
  if (times.summed_ns > times.asked_ns * (1 + kClocksDiffer) + kQuestionDoubtNs) {
    return "its times add up to " + in_us(times.summed_ns) + ", and all of them were taken in " +
           in_us(times.asked_ns);
  }
  if (!claim) return {};
  if (claim->events_ns > claim->wall_ns * (1 + kClocksDiffer) + kQuestionDoubtNs) {
    return std::to_string(claim->launches) + " launches took " + in_us(claim->wall_ns) +
           ", their events say " + in_us(claim->events_ns);
  }
  const double slope_ns = std::max(times.slope_ns, 0.0);
  const double hidden_ns = claim->hidden_ns.value_or(0);
  if (hidden_ns > kMostHidden * slope_ns + kMostHiddenNs) {
    return "a launch takes " + in_us(slope_ns + hidden_ns) +
           " by the slope of the host's clock over N and 2N of them, and " + in_us(slope_ns) +
           " by its events";
  }
  return times.repeats && is_far_below_slope(times) ? far_below_slope(times) : std::string();
}

}  // namespace

bool is_held_by_question(const ClaimedTimes& times) {
  return times.cold_beside_ns &&
         *times.cold_beside_ns <= kMostHidden * times.told_cold_ns + kMostHiddenNs;
}

WallJudgement judge_wall(const std::optional<WallClaim>& claim, const ClaimedTimes& times) {
  WallJudgement out{.why = why_of(claim, times)};
  if (out.why.empty()) out.doubt = doubt_of(claim, times);
  const bool is_known = out.doubt.empty() && (claim || is_held_by_question(times));
  out.told["result"] = !out.why.empty() ? "disagrees" : is_known ? "agrees" : "unknown";
  if (claim) {
    out.told["launches"] = claim->launches;
    out.told["wall_ns"] = claim->wall_ns;
    out.told["events_ns"] = claim->events_ns;
    if (claim->hidden_ns) out.told["hidden_ns"] = std::max(*claim->hidden_ns, 0.0);
  }
  if (!claim && times.cold_beside_ns) out.told["cold_beside_ns"] = *times.cold_beside_ns;
  const std::string& detail = out.why.empty() ? out.doubt : out.why;
  if (!detail.empty()) out.told["detail"] = detail;
  return out;
}

}  // namespace assay::node
