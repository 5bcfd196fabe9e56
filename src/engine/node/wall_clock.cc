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
  const double cold_doubt_ns =
      kColdDoubtNs * static_cast<double>(std::max<std::size_t>(times.kernels, 1));
  if (times.repeats && times.cold_ns > 0 &&
      slope_ns > kMostTimesCold * times.cold_ns + cold_doubt_ns) {
    return "alone, with cold caches, it takes " + in_us(times.cold_ns) + ", and " +
           in_us(slope_ns) + " a launch in a graph, where the host's clock agrees";
  }
  return {};
}

}  // namespace

WallJudgement judge_wall(const std::optional<WallClaim>& claim, const ClaimedTimes& times) {
  WallJudgement out{.why = why_of(claim, times)};
  out.told["result"] = !out.why.empty() ? "disagrees" : claim ? "agrees" : "unknown";
  if (claim) {
    out.told["launches"] = claim->launches;
    out.told["wall_ns"] = claim->wall_ns;
    out.told["events_ns"] = claim->events_ns;
    if (claim->hidden_ns) out.told["hidden_ns"] = std::max(*claim->hidden_ns, 0.0);
  }
  if (!out.why.empty()) out.told["detail"] = out.why;
  return out;
}

}  // namespace assay::node
