// Looking for what comes instead of sleeping until it comes, for a while: a wake-up of a process
// that sleeps costs 50 to 100 us, and an evaluation on a GPU is some thirty questions and answers.
// Looking takes a core: where there are few nobody looks, since it would be taken from who answers.
#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <span>

namespace assay::posix {

// Until when one thread looks. That thread's.
class Awake {
 public:
  explicit Awake(std::chrono::microseconds span);
  // Something came or was asked: more will follow soon.
  void extend() { until_ = Clock::now() + span_; }
  [[nodiscard]] bool looks() const { return span_.count() > 0 && Clock::now() < until_; }
  // As poll(), which sleeps only when it has looked long enough.
  int poll(std::span<pollfd> entries, int timeout_ms) const;

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::microseconds span_;  // none where there are few cores
  Clock::time_point until_{};
};

// Whether `has_come` became true within `span`.
bool look_for(std::chrono::microseconds span, const std::function<bool()>& has_come);

}  // namespace assay::posix
