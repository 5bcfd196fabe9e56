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
