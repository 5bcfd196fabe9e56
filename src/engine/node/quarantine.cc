#include "engine/node/quarantine.h"

#include <algorithm>

namespace assay::node {
namespace {

// A device that was lost comes back with a reset, if ever; asking costs half a second.
constexpr std::chrono::seconds kFirstPause{5};
constexpr std::chrono::seconds kLongestPause{300};

}  // namespace

const char* name(DeviceCondition condition) {
  switch (condition) {
    case DeviceCondition::unproved:
      return "unproved";
    case DeviceCondition::trusted:
      return "trusted";
    case DeviceCondition::doubtful:
      return "doubtful";
    case DeviceCondition::quarantined:
      return "quarantined";
  }
  return "";
}

bool Quarantine::wants_canary(Clock::time_point now) const {
  if (condition_ == DeviceCondition::quarantined) return now >= next_try_;
  return condition_ != DeviceCondition::trusted;
}

void Quarantine::runner_failed(const std::string& why) {
  if (condition_ == DeviceCondition::quarantined) return;
  condition_ = DeviceCondition::doubtful;
  why_ = why;
}

void Quarantine::canary_right() {
  ++canaries_;
  condition_ = DeviceCondition::trusted;
  why_.clear();
  pause_ = {};
}

void Quarantine::canary_wrong(const std::string& why, Clock::time_point now) {
  ++canaries_;
  ++canaries_wrong_;
  condition_ = DeviceCondition::quarantined;
  why_ = why;
  pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
  next_try_ = now + pause_;
}

nlohmann::json Quarantine::told() const {
  return {{"condition", name(condition_)},
          {"why", why_.empty() ? nlohmann::json(nullptr) : nlohmann::json(why_)},
          {"canaries", canaries_},
          {"canaries_wrong", canaries_wrong_}};
}

}  // namespace assay::node
