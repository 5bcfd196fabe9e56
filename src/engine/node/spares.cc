#include "engine/node/spares.h"

#include <system_error>

namespace assay::node {

using Clock = std::chrono::steady_clock;

Spares::Spares(Make make, std::size_t kept, std::chrono::seconds idle)
    : make_(std::move(make)),
      kept_(kept),
      idle_(idle),
      last_use_(Clock::now()),
      housekeeper_([this](const std::stop_token& stop) { keep_house(stop); }) {}

Spares::Process Spares::take() {
  const std::lock_guard lock(mutex_);
  last_use_ = Clock::now();
  if (ready_.empty()) return nullptr;
  Process process = std::move(ready_.front());
  ready_.erase(ready_.begin());
  return process;
}

void Spares::want() {
  const std::lock_guard lock(mutex_);
  wanted_ = kept_;
  last_use_ = Clock::now();
  changed_.notify_all();
}

void Spares::retire(std::vector<Process> used) {
  const std::lock_guard lock(mutex_);
  for (auto& process : used) {
    if (process) retired_.push_back(std::move(process));
  }
  changed_.notify_all();
}

void Spares::keep_house(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    auto ending = std::move(retired_);
    retired_.clear();
    const bool is_short = ready_.size() < wanted_;
    lock.unlock();
    // Both take long, and neither needs what the lock protects.
    Process fresh;
    if (is_short) {
      try {
        fresh = make_(stop);
      } catch (const std::system_error&) {
        // No process can be made now: whoever needs one tries itself, and says so if it cannot.
      }
    }
    ending.clear();
    lock.lock();
    if (is_short && !fresh) wanted_ = 0;
    if (fresh) ready_.push_back(std::move(fresh));
    if (!retired_.empty() || ready_.size() < wanted_) continue;
    changed_.wait_for(lock, stop, idle_ / 4,
                      [&] { return !retired_.empty() || ready_.size() < wanted_; });
    if (Clock::now() - last_use_ < idle_) continue;
    wanted_ = 0;
    for (auto& process : ready_) retired_.push_back(std::move(process));
    ready_.clear();
  }
}

}  // namespace assay::node
