#include "engine/node/device_guard.h"

namespace assay::node {

// Whatever ends the canary, the next may try.
class DeviceGuard::Proving {
 public:
  explicit Proving(DeviceGuard& guard) : guard_(guard) { guard_.is_proving_ = true; }
  ~Proving() {
    const std::lock_guard lock(guard_.mutex_);
    guard_.is_proving_ = false;
    guard_.proved_.notify_all();
  }
  Proving(const Proving&) = delete;
  Proving& operator=(const Proving&) = delete;

 private:
  DeviceGuard& guard_;
};

bool DeviceGuard::may_use(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  // Another's canary may wait for the device as long as a job takes.
  if (!proved_.wait(lock, stop, [&] { return !is_proving_; })) return false;
  if (quarantine_.wants_canary(Quarantine::Clock::now())) {
    const Proving proving(*this);
    lock.unlock();
    const std::optional<std::string> why = canary_(stop);
    if (stop.stop_requested()) return false;  // it may have ended because of that
    if (!why) return true;  // the job will hear the same when it asks for its turn
    lock.lock();
    if (why->empty()) {
      quarantine_.canary_right();
    } else {
      quarantine_.canary_wrong(*why, Quarantine::Clock::now());
    }
    const bool may_use = quarantine_.condition() != DeviceCondition::quarantined;
    lock.unlock();  // before the next is let in
    return may_use;
  }
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
