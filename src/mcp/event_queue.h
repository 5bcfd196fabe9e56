// The event thread's inbox on stdio: tasks and timers from any thread, messages from the one
// reader. Tasks never wait; messages do, so that a client that writes faster than it is served is
// slowed down by a full pipe and not stored. wake_fd() becomes readable when there is something to
// do.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "mcp/event_loop.h"
#include "mcp/owned_fd.h"
#include "mcp/peer.h"

namespace assay::mcp {

class EventQueue final : public EventLoop {
 public:
  EventQueue() : wake_(OwnedFd::make_event()) {}

  // Any thread.
  void post(Task task) override;
  void post_at(Clock::time_point when, Task task) override;
  void wake();

  // The reader. offer() waits while the queue is full; false: closed, nobody will read it.
  [[nodiscard]] bool offer(Incoming incoming);
  void end_input();

  // The event thread.
  [[nodiscard]] int wake_fd() const { return wake_.get(); }
  void run_tasks();
  [[nodiscard]] std::optional<Incoming> take_message();
  [[nodiscard]] bool has_message() const;
  // The reader has ended and everything it read has been taken.
  [[nodiscard]] bool input_ended() const;
  [[nodiscard]] std::optional<Clock::time_point> next_timer() const;
  void close();

 private:
  [[nodiscard]] bool full() const;
  [[nodiscard]] std::optional<Task> next_task();

  OwnedFd wake_;
  mutable std::mutex mutex_{};
  std::condition_variable room_{};
  std::deque<Task> tasks_{};
  std::multimap<Clock::time_point, Task> timers_{};
  std::deque<Incoming> messages_{};
  std::size_t message_bytes_ = 0;
  bool signalled_ = false;
  bool input_ended_ = false;
  bool closed_ = false;
};

}  // namespace assay::mcp
