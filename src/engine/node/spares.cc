#include "engine/node/spares.h"

#include <algorithm>
#include <system_error>

namespace assay::node {

using Clock = std::chrono::steady_clock;

namespace {

// Each holds a device's memory, and where jobs never cease there is always one to be made.
constexpr std::size_t kMostRetired = 4;

}  // namespace

Spares::Spares(Make make, std::size_t kept, std::chrono::seconds idle, std::size_t reserve,
               SparesLeft rest)
    : make_(std::move(make)),
      kept_(kept),
      reserve_(reserve),
      idle_(idle),
      rest_(rest),
      last_use_(Clock::now()),
      housekeeper_([this](const std::stop_token& stop) { keep_house(stop); }) {}

Spares::Process Spares::take() {
  const std::lock_guard lock(mutex_);
  last_use_ = Clock::now();
  const std::size_t first = resting_ || open_takes_ > 0 ? 0 : reserve_;
  if (open_takes_ > 0) --open_takes_;
  if (ready_.size() <= first) return nullptr;
  const auto chosen = ready_.begin() + static_cast<std::ptrdiff_t>(first);
  Process process = std::move(*chosen);
  ready_.erase(chosen);
  return process;
}

void Spares::want() {
  const std::lock_guard lock(mutex_);
  wanted_ = kept_ + reserve_;
  resting_ = false;
  last_use_ = Clock::now();
  changed_.notify_all();
}

void Spares::open_reserve() {
  const std::lock_guard lock(mutex_);
  open_takes_ = reserve_;
}

void Spares::retire_ready() {
  wanted_ = 0;
  for (auto& process : ready_) retired_.push_back(std::move(process));
  ready_.clear();
}

void Spares::keep_a_rest() {
  wanted_ = std::min(wanted_, rest_.kept);
  resting_ = true;
  while (ready_.size() > rest_.kept) {
    retired_.push_back(std::move(ready_.back()));
    ready_.pop_back();
  }
}

void Spares::let_go() {
  const std::lock_guard lock(mutex_);
  ++let_goes_;
  retire_ready();
  changed_.notify_all();
}

void Spares::put_back(Process untouched) {
  if (!untouched) return;
  const std::lock_guard lock(mutex_);
  // It is older than any that is still being made.
  ready_.insert(ready_.begin(), std::move(untouched));
}

void Spares::retire(std::vector<Process> used) {
  const std::lock_guard lock(mutex_);
  for (auto& process : used) {
    if (process) retired_.push_back(std::move(process));
  }
  changed_.notify_all();
}

void Spares::make_one(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const unsigned let_goes = let_goes_;
  lock.unlock();
  Process fresh;
  try {
    fresh = make_(stop);
  } catch (const std::system_error&) {
    // No process can be made now: whoever needs one tries itself, and says so if it cannot.
  }
  lock.lock();
  if (!fresh) {
    wanted_ = 0;
    return;
  }
  // Let go while it was made: nobody wants it any more, though some may be wanted again.
  const bool is_of_no_use = wanted_ == 0 || let_goes_ != let_goes;
  (is_of_no_use ? retired_ : ready_).push_back(std::move(fresh));
}

void Spares::end_one(std::unique_lock<std::mutex>& lock) {
  Process ending = std::move(retired_.front());
  retired_.erase(retired_.begin());
  lock.unlock();
  ending.reset();
  lock.lock();
}

void Spares::keep_house(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (is_short() && retired_.size() < kMostRetired) {
      make_one(lock, stop);
      continue;
    }
    if (!retired_.empty()) {
      end_one(lock);
      continue;
    }
    changed_.wait_for(lock, stop, std::chrono::milliseconds(idle_) / 4,
                      [&] { return !retired_.empty() || is_short(); });
    const auto idled = Clock::now() - last_use_;
    if (idled < idle_) continue;
    if (idled < rest_.until) {
      keep_a_rest();
    } else {
      retire_ready();
    }
  }
}

}  // namespace assay::node
