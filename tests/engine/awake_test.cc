// Looking instead of sleeping: it finds what comes, ends by itself, and never outlasts what it was
// told. Where there are few cores nobody looks, and the same calls sleep at once.
#include "engine/posix/awake.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "engine/posix/descriptor.h"
#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;
using posix::Awake;

namespace {

pollfd readable(const posix::Descriptor& event) { return {event.get(), POLLIN, 0}; }

}  // namespace

TEST_CASE("what is there is found, whether somebody looks or not") {
  const auto event = posix::make_event();
  posix::signal_event(event);
  Awake awake(1h);
  for (const bool extended : {false, true}) {
    if (extended) awake.extend();
    std::array entries{readable(event)};
    CHECK(awake.poll(entries, 0) == 1);
    CHECK(entries[0].revents == POLLIN);
  }
}

TEST_CASE("what comes while somebody looks ends the looking, however long it was to last") {
  const auto event = posix::make_event();
  Awake awake(1h);
  awake.extend();
  const std::jthread other([&] {
    std::this_thread::sleep_for(20ms);
    posix::signal_event(event);
  });
  std::array entries{readable(event)};
  CHECK(awake.poll(entries, -1) == 1);
}

TEST_CASE("where nothing comes it looks, then sleeps, then says so") {
  const auto event = posix::make_event();
  Awake awake(5ms);
  awake.extend();
  std::array entries{readable(event)};
  CHECK(awake.poll(entries, 5) == 0);
  CHECK_FALSE(awake.looks());
}

TEST_CASE(
    "who looks for a word sees it as soon as it is said, and gives up when the time is over") {
  std::atomic<int> looked{0};
  CHECK_FALSE(posix::look_for(2ms, [&] { return ++looked < 0; }));
  // With few cores nobody looked.
  const bool looks = looked > 0;
  CHECK(looks == (std::thread::hardware_concurrency() >= 4));
  CHECK(posix::look_for(1h, [&] { return ++looked > 10; }) == looks);
}
