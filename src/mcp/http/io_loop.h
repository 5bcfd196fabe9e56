// The event thread over HTTP, and what it does when: sockets and timers (an io_context), and quick
// tools between them (shift.h). The thread that calls run() is the event thread until the first
// quick tool comes; from then on it is a thread of the pool, and another when a tool takes long.
//
// After each answer the loop looks for more input for some microseconds before it sleeps, as long
// as that finds some: a client that answers at once is heard without a sleep and a waking.
#pragma once

#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "mcp/event_loop.h"
#include "mcp/http/shift.h"

namespace assay::mcp::http {

class IoLoop final : public EventLoop {
 public:
  // Gives work to a pool of threads. False: there is no thread for it.
  using Hire = std::function<bool(Task work)>;

  explicit IoLoop(boost::asio::io_context& io) : io_(io) {}

  void post(Task task) override;
  void post_at(Clock::time_point when, Task task) override;
  [[nodiscard]] bool carry_out(Task& work) override;
  [[nodiscard]] std::size_t pool_threads() const override { return 2; }

  // Serves until the context is stopped; rethrows what a handler threw.
  void run(Hire hire);

 private:
  enum class Left { relieved, stopped };

  // On a thread of the pool, from standing by to the end of its time as the event thread.
  void take_shift();
  void serve();
  [[nodiscard]] Left lead();
  [[nodiscard]] bool do_quick_work();
  void wait_for_input();
  void call_stand_by();
  void end(std::exception_ptr fault);

  boost::asio::io_context& io_;
  Shift shift_{};
  // What follows is the event thread's.
  Hire hire_{};
  std::deque<Task> quick_work_{};
  bool is_lent_ = false;  // a thread of the pool is the event thread
  int missed_looks_ = 0;
  int short_sleeps_ = 0;

  std::atomic<bool> called_{false};  // somebody is on the way to stand by, or does
  std::mutex end_mutex_{};
  std::condition_variable ended_{};
  bool has_ended_ = false;
  std::exception_ptr fault_{};
};

}  // namespace assay::mcp::http
