#include "engine/runner/clock_ramp.h"

#include <algorithm>

namespace assay::runner {
namespace {

// Slices whose clocks are the same: three where it should be, and where it is not, as many as a
// device may take to leave its idle clock.
constexpr std::size_t kSteady = 3;
constexpr std::size_t kStuck = 10;
constexpr double kSame = 0.01;

}  // namespace

void ClockRamp::note(std::optional<double> mhz) {
  if (mhz) {
    slices_mhz_.push_back(*mhz);
  } else {
    is_blind_ = true;
  }
}

bool ClockRamp::goes_on() const {
  if (is_blind_ || slices_mhz_.size() * kSlice >= kLongest) return false;
  if (slices_mhz_.empty()) return true;
  const std::size_t wanted = slices_mhz_.back() >= wanted_mhz_ ? kSteady : kStuck;
  if (slices_mhz_.size() < wanted) return true;
  const auto first = slices_mhz_.end() - static_cast<std::ptrdiff_t>(wanted);
  const auto [low, high] = std::minmax_element(first, slices_mhz_.end());
  return *low < *high * (1 - kSame);
}

}  // namespace assay::runner
