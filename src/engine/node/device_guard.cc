#include "engine/node/device_guard.h"

namespace assay::node {

bool DeviceGuard::wants_canary() const {
  const std::lock_guard lock(mutex_);
  return quarantine_.wants_canary(Quarantine::Clock::now());
}

bool DeviceGuard::may_use(const std::stop_token& stop) {
  if (wants_canary()) {
    const std::lock_guard proving(proving_);
    // Another may have proved it while this one waited.
    if (wants_canary()) {
      const std::string why = canary_(stop);
      if (stop.stop_requested()) return false;  // it may have ended because of that
      const std::lock_guard lock(mutex_);
      if (why.empty()) {
        quarantine_.canary_right();
      } else {
        quarantine_.canary_wrong(why, Quarantine::Clock::now());
      }
    }
  }
  const std::lock_guard lock(mutex_);
  return quarantine_.condition() != DeviceCondition::quarantined;
}

void DeviceGuard::runner_failed(const std::string& why) {
  const std::lock_guard lock(mutex_);
  quarantine_.runner_failed(why);
}

nlohmann::json DeviceGuard::told() const {
  const std::lock_guard lock(mutex_);
  return quarantine_.told();
}

std::string DeviceGuard::why() const {
  const std::lock_guard lock(mutex_);
  return quarantine_.why();
}

}  // namespace assay::node
