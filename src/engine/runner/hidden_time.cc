#include "engine/runner/hidden_time.h"

#include <algorithm>

namespace assay::runner {
namespace {

// The first launch and the last wait of a stretch, and a share of it.
constexpr double kBesideNs = 300'000;
constexpr double kMostBeside = 0.25;
// Less than that of a launch is nothing.
constexpr double kNothingNs = 500;

}  // namespace

bool HiddenTime::is_suspected(const Wall& wall) {
  return wall.wall_ns > wall.events_ns * (1 + kMostBeside) + kBesideNs;
}

void HiddenTime::note(double once_ns, double twice_ns) {
  ++looks_;
  once_ns_ = std::min(once_ns_.value_or(once_ns), once_ns);
  twice_ns_ = std::min(twice_ns_.value_or(twice_ns), twice_ns);
}

bool HiddenTime::goes_on() const {
  if (looks_ == 0) return true;
  return looks_ < kMostLooks && ns() > kNothingNs + kMostBeside * std::max(slope_ns_, 0.0);
}

}  // namespace assay::runner
