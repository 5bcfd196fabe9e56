#include "mcp/progress_gate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay::mcp {

ProgressGate::ProgressGate(EventLoop& loop, int burst, std::chrono::milliseconds interval,
                           std::function<void(const Progress&)> send)
    : loop_(loop),
      burst_(std::max(burst, 1)),
      interval_(std::max(interval, std::chrono::milliseconds(1))),
      send_(std::move(send)),
      tokens_(burst_),
      refilled_(Clock::now()) {}

void ProgressGate::tell(Progress progress) {
  const std::lock_guard lock(mutex_);
  const bool grows = std::isfinite(progress.done) && (!last_ || progress.done > *last_);
  if (closed_ || !grows) return;
  if (progress.total && !std::isfinite(*progress.total)) progress.total.reset();
  last_ = progress.done;
  refill(Clock::now());
  if (held_) {
    held_ = std::move(progress);
  } else if (tokens_ > 0) {
    --tokens_;
    post(std::move(progress));
  } else {
    held_ = std::move(progress);
    loop_.post_at(refilled_ + interval_, [self = shared_from_this()] { self->flush(); });
  }
}

void ProgressGate::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  held_.reset();
  send_ = nullptr;
}

void ProgressGate::refill(Clock::time_point now) {
  const auto intervals = (now - refilled_) / interval_;
  if (intervals <= 0) return;
  tokens_ = static_cast<int>(std::min<long>(burst_, tokens_ + static_cast<long>(intervals)));
  refilled_ += intervals * interval_;
}

void ProgressGate::post(Progress progress) {
  loop_.post([self = shared_from_this(), progress = std::move(progress)] {
    if (self->send_) self->send_(progress);
  });
}

void ProgressGate::flush() {
  std::optional<Progress> due;
  {
    const std::lock_guard lock(mutex_);
    refill(Clock::now());
    if (tokens_ > 0) --tokens_;
    due = std::exchange(held_, std::nullopt);
  }
  if (due && send_) send_(*due);
}

}  // namespace assay::mcp
