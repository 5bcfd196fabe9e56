#include "mcp/http/io_loop.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <utility>

namespace assay::mcp::http {
namespace {

namespace asio = boost::asio;

// Between two looks at the sockets.
constexpr int kMaxQuickWork = 16;
// How long to look for input before sleeping, and which sleeps looking would have saved.
constexpr std::chrono::microseconds kLook{50};
constexpr std::chrono::microseconds kShortSleep{150};
// A look that found nothing costs its time; so many in a row end the looking.
constexpr int kMaxMissedLooks = 4;
constexpr int kShortSleepsToLook = 3;

}  // namespace

void IoLoop::post(Task task) { asio::post(io_, std::move(task)); }

void IoLoop::post_at(Clock::time_point when, Task task) {
  asio::post(io_, [this, when, task = std::move(task)]() mutable {
    auto timer = std::make_shared<asio::steady_timer>(io_, when);
    timer->async_wait([timer, task = std::move(task)](const boost::system::error_code& fault) {
      if (!fault) task();
    });
  });
}

bool IoLoop::carry_out(Task& work) {
  if (!shift_.has_stand_by()) {
    call_stand_by();
    return false;
  }
  // The thread that called run() must be there when the others are to be stopped.
  if (!is_lent_) return false;
  quick_work_.push_back(std::move(work));
  return true;
}

void IoLoop::call_stand_by() {
  if (!hire_ || called_.exchange(true)) return;
  if (!hire_([this] { take_shift(); })) called_ = false;
}

void IoLoop::run(Hire hire) {
  hire_ = std::move(hire);
  serve();
  std::unique_lock lock(end_mutex_);
  ended_.wait(lock, [this] { return has_ended_; });
  if (fault_) std::rethrow_exception(fault_);
}

void IoLoop::take_shift() {
  const bool mine = shift_.stand_by();
  called_ = false;
  if (!mine) return;
  is_lent_ = true;
  serve();
}

void IoLoop::serve() {
  try {
    if (lead() == Left::stopped) end(nullptr);
  } catch (...) {
    end(std::current_exception());
  }
}

IoLoop::Left IoLoop::lead() {
  while (!io_.stopped()) {
    // For good: whoever stands by takes over in a moment.
    if (!is_lent_ && shift_.leave()) return Left::relieved;
    for (int i = 0; i < kMaxQuickWork && !quick_work_.empty(); ++i)
      if (!do_quick_work()) return Left::relieved;
    if (io_.poll() == 0 && quick_work_.empty()) wait_for_input();
  }
  return Left::stopped;
}

bool IoLoop::do_quick_work() {
  Task work = std::move(quick_work_.front());
  quick_work_.pop_front();
  const auto turn = shift_.leave();
  // Nobody is there to take over: as any other work. A pool with a thread, this one, takes it.
  if (!turn) return hire_(std::move(work)) || true;
  work();
  work = nullptr;
  return shift_.come_back(*turn);
}

void IoLoop::wait_for_input() {
  const auto begin = Clock::now();
  if (missed_looks_ < kMaxMissedLooks) {
    do {
      if (io_.poll_one() > 0) {
        missed_looks_ = 0;
        return;
      }
    } while (Clock::now() - begin < kLook && !io_.stopped());
    ++missed_looks_;
  }
  io_.run_one();
  short_sleeps_ = Clock::now() - begin < kShortSleep ? short_sleeps_ + 1 : 0;
  if (short_sleeps_ >= kShortSleepsToLook) missed_looks_ = 0;
}

void IoLoop::end(std::exception_ptr fault) {
  shift_.close();
  const std::lock_guard lock(end_mutex_);
  has_ended_ = true;
  fault_ = std::move(fault);
  ended_.notify_all();
}

}  // namespace assay::mcp::http
