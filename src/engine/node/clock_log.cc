#include "engine/node/clock_log.h"

#include <algorithm>
#include <cmath>

#include "engine/node/median.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kEvery{100};
// The multiprocessors' clock moved by more than this between turns.
constexpr double kUnstable = 0.03;

}  // namespace

bool ClockLog::is_due() const { return Clock::now() - asked_ >= kEvery; }

void ClockLog::note(const Turn& turn) {
  if (turn.clock_mhz) multiprocessors_mhz_.push_back(*turn.clock_mhz);
  if (turn.state.is_null()) return;
  state_ = turn.state;
  asked_ = Clock::now();
  for (const auto& reason : state_.value("held_down", json::array())) held_down_.insert(reason);
}

void ClockLog::tell(json& body) const {
  body["clocks"] = state_;
  body["clocks"]["held_down"] = held_down_;
  if (!held_down_.empty()) {
    std::string reasons;
    for (const auto& reason : held_down_) reasons += (reasons.empty() ? "" : ", ") + reason;
    body["warnings"].push_back(
        {{"code", "throttled"},
         {"message", "The device held its clocks down while this was measured (" + reasons +
                         "): another run may be faster."}});
  }
  if (multiprocessors_mhz_.empty()) return;
  const auto [low, high] =
      std::minmax_element(multiprocessors_mhz_.begin(), multiprocessors_mhz_.end());
  body["clocks"].update({{"sm_mhz_min", *low},
                         {"sm_mhz_max", *high},
                         {"sm_mhz_median", median(multiprocessors_mhz_)}});
  if (*low < *high * (1 - kUnstable)) {
    body["warnings"].push_back(
        {{"code", "unstable_clock"},
         {"message", "The multiprocessors' clock moved between " +
                         std::to_string(std::lround(*low)) + " and " +
                         std::to_string(std::lround(*high)) +
                         " MHz while this was measured; compare times with care."}});
  }
}

}  // namespace assay::node
