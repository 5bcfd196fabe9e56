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

double highest_mhz(const json& facts) {
  const auto khz = facts.find("clock_khz");
  return khz != facts.end() && khz->is_number() ? std::max(khz->get<double>() * 1e-3, 0.0) : 0;
}

bool ClockLog::is_due() const { return Clock::now() - asked_ >= kEvery; }

void ClockLog::note(const Turn& turn) {
  if (turn.clock_mhz) multiprocessors_mhz_.push_back(*turn.clock_mhz);
  ramped_ms_ += turn.ramped_ms;
  if (turn.ramped_from_mhz && !ramped_from_mhz_) ramped_from_mhz_ = turn.ramped_from_mhz;
  if (turn.state.is_null()) return;
  state_ = turn.state;
  asked_ = Clock::now();
  for (const auto& reason : state_.value("held_down", json::array())) held_down_.insert(reason);
}

std::string ClockLog::reasons() const {
  std::string text;
  for (const auto& reason : held_down_) text += (text.empty() ? "" : ", ") + reason;
  return text;
}

void ClockLog::warn_of_low(json& warnings, double highest_seen_mhz) const {
  const bool is_set = state_.value("set_lower", false);
  const std::string why = !held_down_.empty() ? "held down by: " + reasons()
                          : is_set            ? "an operator has set its clocks"
                                              : "its driver names no reason";
  warnings.push_back(
      {{"code", "low_clock"},
       {"message", "The multiprocessors ran at " + std::to_string(std::lround(highest_seen_mhz)) +
                       " of " + std::to_string(std::lround(highest_mhz_)) +
                       " MHz at most while this was measured (" + why +
                       "): times are those of this clock."}});
}

void ClockLog::tell(json& body) const {
  json& clocks = body["clocks"] = state_;
  // Who else is there is told elsewhere.
  for (const char* key : {"pids", "working", "busy_pct"}) clocks.erase(key);
  clocks["held_down"] = held_down_;
  if (highest_mhz_ > 0) clocks["sm_mhz_highest"] = highest_mhz_;
  clocks["ramped_ms"] = ramped_ms_;
  if (ramped_from_mhz_) clocks["ramped_from_mhz"] = *ramped_from_mhz_;
  if (!held_down_.empty()) {
    body["warnings"].push_back(
        {{"code", "throttled"},
         {"message", "The device held its clocks down while this was measured (" + reasons() +
                         "): another run may be faster."}});
  }
  if (multiprocessors_mhz_.empty()) return;
  const auto [low, high] =
      std::minmax_element(multiprocessors_mhz_.begin(), multiprocessors_mhz_.end());
  body["clocks"].update({{"sm_mhz_min", *low},
                         {"sm_mhz_max", *high},
                         {"sm_mhz_median", median(multiprocessors_mhz_)}});
  if (*high < low_mhz()) warn_of_low(body["warnings"], *high);
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
