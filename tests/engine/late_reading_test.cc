// Readings that come, come late, or never.
#include "engine/runner/late_reading.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>

#include "tests/catch.h"

using assay::runner::LateReading;
using namespace std::chrono_literals;

TEST_CASE("a reading that comes in time is had, and the next may begin") {
  LateReading<std::string> reading;
  CHECK_FALSE(reading.take(1h));  // none was begun
  for (const char* text : {"one", "two"}) {
    reading.begin([text] { return std::string(text); });
    CHECK(reading.take(1h) == text);
    CHECK_FALSE(reading.take(1h));
  }
}

TEST_CASE("one that never comes is done without, and no second is sent after it") {
  auto never = std::make_shared<std::promise<void>>();
  auto begun = std::make_shared<std::atomic<int>>(0);
  LateReading<int> reading;
  const auto stuck = [done = never->get_future().share(), begun] {
    ++*begun;
    done.wait();
    return 1;
  };
  reading.begin(stuck);
  CHECK_FALSE(reading.take(1ms));
  reading.begin(stuck);
  CHECK_FALSE(reading.take(1h));  // who waited in vain before only looks
  CHECK(*begun <= 1);
  never->set_value();
  // It is had once it has come, whoever began it.
  std::optional<int> late;
  while (!late) {
    std::this_thread::sleep_for(1ms);
    late = reading.take(0ns);
  }
  CHECK(*late == 1);
}

TEST_CASE("a reading outlives who asked for it") {
  auto never = std::make_shared<std::promise<void>>();
  auto done = std::make_shared<std::promise<int>>();
  auto was_done = done->get_future();
  {
    LateReading<int> reading;
    reading.begin([wait = never->get_future().share(), done] {
      wait.wait();
      done->set_value(3);
      return 3;
    });
    CHECK_FALSE(reading.take(0ns));
  }
  never->set_value();
  CHECK(was_done.get() == 3);
}
