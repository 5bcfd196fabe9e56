// Runners made ahead: who gets which, what happens after a failure, and what is done first.
#include "engine/node/spares.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "tests/catch.h"
#include "tests/engine/children.h"

using namespace assay;
using namespace std::chrono_literals;
using node::RunnerProcess;
using node::Spares;

namespace {

constexpr auto kIdle = 600s;
constexpr auto kPatience = 20s;

Spares::Process sleeper() {
  return std::make_unique<RunnerProcess>(
      confinement::SpawnRequest{.executable = ASSAY_MISBEHAVING_RUNNER,
                                .arguments = {"--role=hang"},
                                .confinement = {.layers = {.level = confinement::Level::L1},
                                                .profile = confinement::Profile::cpu}},
      node::RunnerLimits{});
}

template <typename Predicate>
bool comes_true(Predicate&& predicate) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

// A maker that remembers what it made, in order.
struct Workshop {
  std::mutex mutex{};
  std::vector<RunnerProcess*> made{};

  Spares::Make maker() {
    return [this](const std::stop_token&) {
      auto fresh = sleeper();
      const std::lock_guard lock(mutex);
      made.push_back(fresh.get());
      return fresh;
    };
  }
  bool has_made(std::size_t count) {
    return comes_true([&] {
      const std::lock_guard lock(mutex);
      return made.size() >= count;
    });
  }
};

}  // namespace

TEST_CASE("nothing is made before it is wanted, and no more than was said") {
  Workshop workshop;
  Spares spares(workshop.maker(), 2, kIdle, 1);
  CHECK(spares.take() == nullptr);
  CHECK(workshop.made.empty());
  spares.want();
  REQUIRE(workshop.has_made(3));
  const auto taken = spares.take();
  spares.want();
  REQUIRE(workshop.has_made(4));
  std::this_thread::sleep_for(50ms);
  CHECK(workshop.made.size() == 4);
}

TEST_CASE("the oldest are a reserve that opens after a failure, for as many takes as it has") {
  Workshop workshop;
  Spares spares(workshop.maker(), 3, kIdle, 2);
  spares.want();
  REQUIRE(workshop.has_made(5));
  std::vector<Spares::Process> taken;
  const auto next = [&] {
    // What was made last may not be put down yet.
    CHECK(comes_true([&] { return (taken.emplace_back(spares.take()), taken.back()) != nullptr; }));
    return taken.back().get();
  };
  const auto made = workshop.made;
  CHECK(next() == made[2]);
  spares.open_reserve();
  CHECK(next() == made[0]);
  CHECK(next() == made[1]);
  CHECK(spares.take() == nullptr);  // the next two are the reserve now
  spares.open_reserve();
  CHECK(next() == made[3]);
  CHECK(next() == made[4]);
  CHECK(spares.take() == nullptr);
}

TEST_CASE("after idling a rest is left for who comes first") {
  Workshop workshop;
  const std::size_t before = children();
  Spares spares(workshop.maker(), 2, 1s, 1, {.kept = 1, .until = kIdle});
  spares.want();
  REQUIRE(workshop.has_made(3));
  RunnerProcess* const oldest = workshop.made.front();
  REQUIRE(comes_true([&] { return children() == before + 1; }));
  const auto first = spares.take();  // no reserve is held back of it
  CHECK(first.get() == oldest);
  CHECK(spares.take() == nullptr);
  CHECK(workshop.made.size() == 3);
  spares.want();
  CHECK(workshop.has_made(6));
}

TEST_CASE("of a rest nothing is left once that has idled, too") {
  Workshop workshop;
  const std::size_t before = children();
  Spares spares(workshop.maker(), 2, 1s, 0, {.kept = 1, .until = 2s});
  spares.want();
  REQUIRE(workshop.has_made(2));
  REQUIRE(comes_true([&] { return children() == before; }));
  CHECK(spares.take() == nullptr);
  CHECK(workshop.made.size() == 2);
}

TEST_CASE("what was not used after all is the first to be taken") {
  Workshop workshop;
  Spares spares(workshop.maker(), 2, kIdle);
  spares.want();
  REQUIRE(workshop.has_made(2));
  auto taken = spares.take();
  REQUIRE(taken != nullptr);
  RunnerProcess* const first = taken.get();
  spares.put_back(std::move(taken));
  CHECK(spares.take().get() == first);
  spares.put_back(nullptr);
}

TEST_CASE("what was used is ended once nothing is to be made") {
  std::atomic<bool> may_go_on = false;
  std::atomic<int> made = 0;
  std::atomic<bool> ended_before = false;
  std::vector<Spares::Process> used;
  used.push_back(sleeper());
  used.push_back(sleeper());
  const std::size_t with_used = children();
  Spares spares(
      [&](const std::stop_token&) -> Spares::Process {
        if (!comes_true([&] { return may_go_on.load(); })) return nullptr;
        // Those made before this one, and both that were used.
        if (children() < with_used + static_cast<std::size_t>(made)) ended_before = true;
        auto fresh = sleeper();
        ++made;
        return fresh;
      },
      3, kIdle);
  spares.want();
  spares.retire(std::move(used));
  may_go_on = true;
  REQUIRE(comes_true([&] { return made == 3; }));
  CHECK_FALSE(ended_before);
  CHECK(comes_true([&] { return children() == with_used - 2 + 3; }));
}

TEST_CASE("four that were used are as many as gather while others are to be made") {
  for (const std::size_t used_up : {3U, 4U}) {
    INFO(used_up << " were used");
    std::atomic<bool> may_go_on = false;
    std::atomic<int> calls = 0;
    std::atomic<std::size_t> alive_at_second = 0;
    std::vector<Spares::Process> used(used_up);
    for (auto& one : used) one = sleeper();
    const std::size_t others = children() - used_up;
    Spares spares(
        [&](const std::stop_token&) -> Spares::Process {
          const int call = ++calls;
          if (call == 1 && !comes_true([&] { return may_go_on.load(); })) return nullptr;
          // But for the one made before.
          if (call == 2) alive_at_second = children() - others - 1;
          return sleeper();
        },
        2, kIdle);
    spares.want();
    REQUIRE(comes_true([&] { return calls == 1; }));
    spares.retire(std::move(used));
    may_go_on = true;
    CHECK(comes_true([&] { return alive_at_second > 0; }));
    // Of three none is ended before the next is made; of four the first is.
    CHECK(alive_at_second == 3);
  }
}

TEST_CASE("where one is taken as soon as it is made, what was used is ended all the same") {
  constexpr std::size_t kTakes = 40;
  constexpr std::size_t kMost = 12;  // those that are ready or being made, and a few
  const std::size_t before = children();
  Workshop workshop;
  Spares spares(workshop.maker(), 3, kIdle);
  std::size_t most = 0;
  for (std::size_t taken = 0; taken < kTakes; ++taken) {
    std::vector<Spares::Process> used;
    spares.want();
    REQUIRE(comes_true([&] {
      return (used = std::vector<Spares::Process>(1), used[0] = spares.take()) != nullptr;
    }));
    spares.retire(std::move(used));
    most = std::max(most, children() - before);
  }
  CHECK(most <= kMost);
}

TEST_CASE("where none can be made nobody waits, and the next want tries again") {
  std::atomic<int> tries = 0;
  Spares spares(
      [&](const std::stop_token&) -> Spares::Process {
        if (++tries == 1) throw std::system_error(EAGAIN, std::generic_category(), "no process");
        if (tries == 2) return nullptr;
        return sleeper();
      },
      1, kIdle);
  for (int round = 1; round <= 2; ++round) {
    spares.want();
    REQUIRE(comes_true([&] { return tries == round; }));
    std::this_thread::sleep_for(20ms);
    CHECK(tries == round);
    CHECK(spares.take() == nullptr);
  }
  spares.want();
  CHECK(comes_true([&] { return spares.take() != nullptr; }));
}

TEST_CASE("what was being made while all were let go serves nobody, though some are wanted again") {
  Workshop workshop;
  std::atomic<bool> goes_on = false;
  std::atomic<std::size_t> begun = 0;
  Spares spares(
      [&, make = workshop.maker()](const std::stop_token& stop) {
        const bool is_first = begun++ == 0;
        while (is_first && !goes_on && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
        return make(stop);
      },
      1, kIdle);
  spares.want();
  REQUIRE(comes_true([&] { return begun == 1; }));
  spares.let_go();
  spares.want();
  goes_on = true;
  REQUIRE(workshop.has_made(2));
  Spares::Process taken;
  REQUIRE(comes_true([&] { return (taken = spares.take()) != nullptr; }));
  const std::lock_guard lock(workshop.mutex);  // the next is being made
  CHECK(taken.get() == workshop.made.at(1));
}

TEST_CASE("what nobody takes is let go") {
  const std::size_t before = children();
  Workshop workshop;
  Spares spares(workshop.maker(), 2, 1s);
  spares.want();
  REQUIRE(workshop.has_made(2));
  CHECK(comes_true([&] { return children() == before; }));
  CHECK(spares.take() == nullptr);
}
