// Who is the event thread. It may itself do what could block - a tool that was quick the last time
// - because a second thread stands by: when the work is not done after a moment, that one becomes
// the event thread, and the first, once it is done, finds itself relieved. A quick call costs no
// hand-over between threads, and a slow one costs the others a moment.
//
//   event thread    leave() · the work · come_back(turn): false, somebody else is it now
//   the stand-by    stand_by(): true, this thread is the event thread now
//
// What belongs to the event thread goes over with it: each change of hands is a release and an
// acquire of one word. The stand-by looks once in a tick while there is work to watch, and sleeps
// when there has been none for a while.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

namespace assay::mcp::http {

class Shift {
 public:
  struct Times {
    std::chrono::microseconds tick{1'000};
    int ticks_before_sleep = 20;
    std::chrono::milliseconds idle{10'000};
  };

  Shift() = default;
  explicit Shift(Times times) : times_(times) {}

  using Turn = std::uint64_t;
  // The event thread. Nothing: nobody stands by, so it must not block.
  [[nodiscard]] std::optional<Turn> leave();
  [[nodiscard]] bool come_back(Turn turn);
  [[nodiscard]] bool has_stand_by() const { return (word_.load() & kStandBy) != 0; }

  // A thread that is free; one at a time. False: idle for long, or closed; it may go.
  [[nodiscard]] bool stand_by();

  // The last event thread, while it is here: whoever stands by may go.
  void close();

 private:
  static constexpr std::uint64_t kAway = 1;
  static constexpr std::uint64_t kStandBy = 2;
  static constexpr std::uint64_t kTurn = 4;  // the rest of the word counts them

  [[nodiscard]] bool take_over(std::uint64_t seen);
  // False: idle for so long that this thread has left its post.
  [[nodiscard]] bool sleep(std::unique_lock<std::mutex>& lock, std::uint64_t seen);

  const Times times_{};
  std::atomic<std::uint64_t> word_{0};
  std::atomic<bool> sleeping_{false};
  bool closed_ = false;
  std::mutex mutex_{};
  std::condition_variable wake_{};
};

}  // namespace assay::mcp::http
