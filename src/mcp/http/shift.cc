#include "mcp/http/shift.h"

namespace assay::mcp::http {

std::optional<Shift::Turn> Shift::leave() {
  std::uint64_t word = word_.load();
  // The stand-by may leave its post meanwhile; it is the only other one to change the word.
  do {
    if ((word & kStandBy) == 0) return std::nullopt;
  } while (!word_.compare_exchange_weak(word, (word + kTurn) | kAway));
  // Looked at after the word has changed; whoever falls asleep looks at the word after saying so.
  if (sleeping_.load()) {
    const std::lock_guard lock(mutex_);
    sleeping_ = false;
    wake_.notify_one();
  }
  return (word + kTurn) | kAway;
}

bool Shift::come_back(Turn turn) { return word_.compare_exchange_strong(turn, turn & ~kAway); }

bool Shift::take_over(std::uint64_t seen) {
  return word_.compare_exchange_strong(seen, (seen + kTurn) & ~(kAway | kStandBy));
}

bool Shift::stand_by() {
  std::unique_lock lock(mutex_);
  word_.fetch_or(kStandBy);
  std::uint64_t seen = 0;
  int quiet_ticks = 0;
  while (!closed_) {
    const std::uint64_t word = word_.load();
    const bool stays_away = word == seen && (word & kAway) != 0;
    if (stays_away && take_over(word)) return true;
    quiet_ticks = word == seen ? quiet_ticks + 1 : 0;
    seen = word;
    if (quiet_ticks < times_.ticks_before_sleep) {
      wake_.wait_for(lock, times_.tick, [this] { return closed_; });
    } else {
      if (!sleep(lock, word)) return false;
      quiet_ticks = 0;
    }
  }
  word_.fetch_and(~kStandBy);
  return false;
}

bool Shift::sleep(std::unique_lock<std::mutex>& lock, std::uint64_t seen) {
  sleeping_ = true;
  bool woken = word_.load() != seen;
  if (!woken)
    woken = wake_.wait_for(lock, times_.idle, [this] { return closed_ || !sleeping_.load(); });
  sleeping_ = false;
  return woken || !word_.compare_exchange_strong(seen, seen & ~kStandBy);
}

void Shift::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  wake_.notify_all();
}

}  // namespace assay::mcp::http
