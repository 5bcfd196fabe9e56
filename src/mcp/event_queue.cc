#include "mcp/event_queue.h"

#include <utility>

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxMessages = 1024;
constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

}  // namespace

// The event is written once per sleep of the event thread, not once per task.
void EventQueue::wake() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(signalled_, true)) wake_.signal();
}

void EventQueue::post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake();
}

void EventQueue::post_at(Clock::time_point when, Task task) {
  {
    const std::lock_guard lock(mutex_);
    timers_.emplace(when, std::move(task));
  }
  wake();
}

bool EventQueue::full() const {
  return messages_.size() >= kMaxMessages || message_bytes_ >= kMaxMessageBytes;
}

bool EventQueue::offer(Incoming incoming) {
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return closed_ || !full(); });
    if (closed_) return false;
    message_bytes_ += incoming.bytes;
    messages_.push_back(std::move(incoming));
  }
  wake();
  return true;
}

void EventQueue::end_input() {
  {
    const std::lock_guard lock(mutex_);
    input_ended_ = true;
  }
  wake();
}

std::optional<Task> EventQueue::next_task() {
  const std::lock_guard lock(mutex_);
  if (signalled_) {
    wake_.drain();
    signalled_ = false;
  }
  if (!timers_.empty() && timers_.begin()->first <= Clock::now())
    return std::move(timers_.extract(timers_.begin()).mapped());
  if (tasks_.empty()) return std::nullopt;
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void EventQueue::run_tasks() {
  while (std::optional<Task> task = next_task()) (*task)();
}

std::optional<Incoming> EventQueue::take_message() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  Incoming incoming = std::move(messages_.front());
  messages_.pop_front();
  message_bytes_ -= incoming.bytes;
  room_.notify_one();
  return incoming;
}

bool EventQueue::has_message() const {
  const std::lock_guard lock(mutex_);
  return !messages_.empty();
}

bool EventQueue::input_ended() const {
  const std::lock_guard lock(mutex_);
  return input_ended_ && messages_.empty();
}

std::optional<Clock::time_point> EventQueue::next_timer() const {
  const std::lock_guard lock(mutex_);
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first;
}

void EventQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  room_.notify_all();
}

}  // namespace assay::mcp
