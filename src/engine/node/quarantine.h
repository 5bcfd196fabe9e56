// Whether a GPU may be used. What a kernel does never decides it: a runner that failed without the
// kernel's doing makes the device doubtful, and a canary, a kernel of ours with a known answer in a
// fresh process, proves it again or shuts it away. From then on the canary alone lets it out.
//
//   condition    runner failed   canary right   canary wrong
//   unproved     doubtful        trusted        quarantined
//   trusted      doubtful        trusted        quarantined
//   doubtful     doubtful        trusted        quarantined
//   quarantined  quarantined     trusted        quarantined, next try later
//
// A job that a device served proves nothing: others may run beside it, and it may have been lucky.
//
// A plain value: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace assay::node {

enum class DeviceCondition { unproved, trusted, doubtful, quarantined };
[[nodiscard]] const char* name(DeviceCondition condition);

class Quarantine {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] DeviceCondition condition() const { return condition_; }
  // A canary is to run before the device is used: for the first time, at once where it is doubtful,
  // from time to time where it is shut away.
  [[nodiscard]] bool wants_canary(Clock::time_point now) const;

  void runner_failed(const std::string& why);
  void canary_right();
  void canary_wrong(const std::string& why, Clock::time_point now);

  [[nodiscard]] const std::string& why() const { return why_; }
  // {condition, why, canaries, canaries_wrong}.
  [[nodiscard]] nlohmann::json told() const;

 private:
  DeviceCondition condition_ = DeviceCondition::unproved;
  std::string why_{};
  std::uint64_t canaries_ = 0;
  std::uint64_t canaries_wrong_ = 0;
  std::chrono::seconds pause_{0};
  Clock::time_point next_try_{};
};

}  // namespace assay::node
