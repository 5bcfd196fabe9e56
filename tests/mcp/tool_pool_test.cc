#include "mcp/tool_pool.h"

#include <atomic>
#include <memory>
#include <thread>

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
