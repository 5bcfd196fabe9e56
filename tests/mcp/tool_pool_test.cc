#include "mcp/tool_pool.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

using assay::mcp::ToolPool;
using std::chrono::milliseconds;

TEST_CASE("work runs side by side up to the limit, and all of it runs", "[pool]") {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  {
    ToolPool pool(4, milliseconds(1000));
    for (int i = 0; i < 40; ++i) {
      pool.submit([&] {
        const int running = ++now;
        int seen = most;
        while (running > seen && !most.compare_exchange_weak(seen, running)) {
        }
        std::this_thread::sleep_for(milliseconds(5));
        --now;
        ++done;
      });
    }
    CHECK(pool.threads() <= 4);
  }
  CHECK(done == 40);
  CHECK(most == 4);
}

TEST_CASE("an idle thread is used again, and ends after a while", "[pool]") {
  ToolPool pool(8, milliseconds(100));
  std::atomic<int> done{0};
  for (int i = 0; i < 5; ++i) {
    pool.submit([&] { ++done; });
    while (done <= i) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(2));
  }
  CHECK(pool.threads() == 1);
  for (int i = 0; i < 500 && pool.threads() > 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(pool.threads() == 0);
  pool.submit([&] { ++done; });
  CHECK(pool.drain(milliseconds(10'000), nullptr) == 0);
  CHECK(done == 6);
}

TEST_CASE("work that will not end is given up, and what it uses outlives the pool", "[pool]") {
  auto used = std::make_shared<std::atomic<bool>>(false);
  const std::weak_ptr<std::atomic<bool>> watch = used;
  {
    ToolPool pool(1, milliseconds(10));
    pool.submit([flag = used.get()] {
      std::this_thread::sleep_for(milliseconds(200));
      *flag = true;
    });
    std::this_thread::sleep_for(milliseconds(20));
    CHECK(pool.drain(milliseconds(10), std::exchange(used, nullptr)) == 1);
  }
  CHECK_FALSE(watch.expired());
  for (int i = 0; i < 500 && !watch.expired(); ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(watch.expired());
}

TEST_CASE("work is never left while a thread could take it, however it comes", "[pool]") {
  // Pieces that wait for one another need all threads at once; a call that was lost hangs here.
  constexpr int kThreads = 6;
  ToolPool pool(kThreads, milliseconds(1));
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> arrived{0};
    std::atomic<int> done{0};
    for (int i = 0; i < kThreads; ++i) {
      pool.submit([&] {
        ++arrived;
        while (arrived < kThreads) std::this_thread::yield();
        ++done;
      });
      if (round % 3 == 0) std::this_thread::yield();
      // So that threads end, sleep and are on their way while work comes.
      if (round % 7 == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    while (done < kThreads) std::this_thread::yield();
    for (int i = 0; i < 20; ++i) pool.submit([&] { ++done; });
    while (done < kThreads + 20) std::this_thread::yield();
  }
  CHECK(pool.threads() <= kThreads);
  CHECK(pool.drain(milliseconds(10'000), nullptr) == 0);
}

namespace {

bool comes_true(const std::function<bool()>& claim) {
  for (int i = 0; i < 20'000 && !claim(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return claim();
}

// As many places as `whose` work is given, all held at once.
std::vector<std::shared_ptr<void>> places(ToolPool& pool, const std::string& whose) {
  std::vector<std::shared_ptr<void>> held;
  while (auto place = pool.step_aside(whose)) held.push_back(std::move(place));
  return held;
}

}  // namespace

TEST_CASE("work that waits aside keeps nobody from being served", "[pool]") {
  constexpr std::size_t kWaiting = 50;
  constexpr std::size_t kThreads = 2;
  // Nobody goes for idleness here.
  ToolPool pool(kThreads, milliseconds(600'000), 2 * kWaiting);
  std::atomic<bool> over{false};
  std::atomic<std::size_t> waiting{0};
  std::atomic<std::size_t> served{0};
  for (std::size_t i = 0; i < kWaiting; ++i) {
    pool.submit([&] {
      const auto aside = pool.step_aside("ada");
      ++waiting;
      while (aside && !over) std::this_thread::sleep_for(milliseconds(1));
    });
  }
  CHECK(comes_true([&] { return waiting == kWaiting; }));
  for (std::size_t i = 0; i < kWaiting; ++i) pool.submit([&] { ++served; });
  CHECK(comes_true([&] { return served == kWaiting; }));
  CHECK(pool.threads() <= kThreads + kWaiting);
  over = true;
  // Those who came back are too many now.
  CHECK(comes_true([&] { return pool.threads() <= kThreads; }));
  pool.submit([&] { ++served; });
  CHECK(comes_true([&] { return served == kWaiting + 1; }));
}

TEST_CASE("nobody holds more places aside than are left to the others", "[pool]") {
  ToolPool pool(1, milliseconds(1000), 8);
  std::atomic<bool> done{false};
  pool.submit([&] {
    auto ada = places(pool, "ada");
    const auto bob = places(pool, "bob");
    const auto eve = places(pool, "eve");
    CHECK(ada.size() == 4);
    CHECK(bob.size() == 2);
    CHECK(eve.size() == 1);
    ada.clear();
    // As many as the five that nobody else holds allow.
    CHECK(places(pool, "ada").size() == 3);
    done = true;
  });
  CHECK(comes_true([&] { return done.load(); }));
}

TEST_CASE("a pool without places lets nobody step aside", "[pool]") {
  ToolPool pool(1, milliseconds(1000));
  std::atomic<bool> refused{false};
  pool.submit([&] { refused = pool.step_aside("ada") == nullptr; });
  CHECK(pool.drain(milliseconds(10'000), nullptr) == 0);
  CHECK(refused);
}
