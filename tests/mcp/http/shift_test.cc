#include "mcp/http/shift.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/catch.h"

using assay::mcp::http::Shift;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

void wait_for(const std::function<bool()>& happened) {
  while (!happened()) std::this_thread::sleep_for(microseconds(200));
}

}  // namespace

TEST_CASE("nobody leaves whom nobody can replace", "[shift]") {
  Shift shift;
  CHECK_FALSE(shift.has_stand_by());
  CHECK_FALSE(shift.leave());
}

TEST_CASE("who stays away for long is replaced, once, and learns of it", "[shift]") {
  Shift shift;
  std::atomic<bool> took_over{false};
  std::thread second([&] { took_over = shift.stand_by(); });
  wait_for([&] { return shift.has_stand_by(); });
  const auto turn = shift.leave();
  REQUIRE(turn);
  second.join();
  CHECK(took_over);
  CHECK_FALSE(shift.come_back(*turn));
  // Whoever took over stands by no longer.
  CHECK_FALSE(shift.has_stand_by());
  CHECK_FALSE(shift.leave());
}

TEST_CASE("who stands by for nothing may go, at once when there is no more to come", "[shift]") {
  Shift idle({.tick = microseconds(100), .ticks_before_sleep = 1, .idle = milliseconds(1)});
  CHECK_FALSE(idle.stand_by());
  CHECK_FALSE(idle.has_stand_by());
  Shift closed({.idle = std::chrono::hours(1)});
  std::thread second([&] { CHECK_FALSE(closed.stand_by()); });
  wait_for([&] { return closed.has_stand_by(); });
  closed.close();
  second.join();
  CHECK_FALSE(closed.has_stand_by());
}

TEST_CASE("a sleeping stand-by is woken by the next turn", "[shift]") {
  Shift shift({.tick = microseconds(100), .ticks_before_sleep = 1, .idle = std::chrono::hours(1)});
  std::atomic<bool> took_over{false};
  std::thread second([&] { took_over = shift.stand_by(); });
  wait_for([&] { return shift.has_stand_by(); });
  std::this_thread::sleep_for(milliseconds(20));
  REQUIRE(shift.leave());
  second.join();
  CHECK(took_over);
}

// What the event thread owns is a plain number here: a sanitizer sees what the word does not order.
TEST_CASE("there is one event thread at any time, and nothing of its work is lost", "[shift]") {
  Shift shift({.tick = microseconds(50), .ticks_before_sleep = 3, .idle = std::chrono::hours(1)});
  constexpr int kTurns = 2000;
  int turns = 0;
  std::atomic<int> leading{1};
  std::atomic<int> most{1};
  std::atomic<int> handed_over{0};
  std::atomic<bool> over{false};
  std::mutex post;
  const auto lead = [&] {
    while (turns < kTurns) {
      const int number = ++turns;  // from leave() on, `turns` may be another's
      const bool stays_away = number % 50 == 0;
      if (stays_away) wait_for([&] { return shift.has_stand_by(); });
      const int before = handed_over;
      --leading;
      const auto turn = shift.leave();
      if (turn && stays_away) wait_for([&] { return handed_over > before; });
      if (turn && number % 7 == 0) std::this_thread::sleep_for(microseconds(number % 300));
      if (turn && !shift.come_back(*turn)) return;
      if (++leading > most) most = leading.load();
    }
    over = true;
    shift.close();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      if (i == 0) lead();
      // One at a time stands by.
      while (!over) {
        std::unique_lock mine(post, std::try_to_lock);
        if (!mine) {
          std::this_thread::sleep_for(microseconds(20));
          continue;
        }
        if (!shift.stand_by()) continue;
        ++leading;
        ++handed_over;
        mine.unlock();
        lead();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(turns == kTurns);
  CHECK(most == 1);
  CHECK(handed_over >= kTurns / 50);
}
