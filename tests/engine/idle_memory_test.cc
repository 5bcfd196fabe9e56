// What a referee keeps of former jobs' memory.
#include "engine/runner/idle_memory.h"

#include <memory>

#include "tests/catch.h"

using assay::runner::IdleMemory;

TEST_CASE("kept memory serves who asks for just as much, the latest first") {
  IdleMemory<int> idle(100);
  idle.put(10, 16, 1);
  idle.put(20, 32, 2);
  idle.put(10, 16, 3);
  CHECK_FALSE(idle.take(16));
  CHECK(idle.take(10) == 3);
  CHECK(idle.take(10) == 1);
  CHECK_FALSE(idle.take(10));
  CHECK(idle.take(20) == 2);
  CHECK(idle.is_empty());
}

TEST_CASE("of arenas of ever other sizes no more is kept than the bound, the oldest goes") {
  IdleMemory<std::unique_ptr<int>> idle(100);
  for (std::size_t size = 1; size <= 1000; ++size) {
    idle.put(size, 30, std::make_unique<int>(static_cast<int>(size)));
    idle.shrink();
    CHECK_FALSE(idle.is_too_much());
  }
  CHECK_FALSE(idle.take(997));
  CHECK(**idle.take(998) == 998);
  CHECK(**idle.take(999) == 999);
  CHECK(**idle.take(1000) == 1000);
}

TEST_CASE("one piece that is more than the bound is not kept, and counts no longer") {
  IdleMemory<int> idle(100);
  idle.put(1000, 1000, 1);
  CHECK(idle.is_too_much());
  idle.shrink();
  CHECK(idle.is_empty());
  idle.put(50, 60, 2);
  CHECK_FALSE(idle.is_too_much());
  idle.clear();
  idle.put(70, 99, 3);
  CHECK_FALSE(idle.is_too_much());
}

TEST_CASE("what was taken is counted no longer") {
  IdleMemory<int> idle(100);
  idle.put(1, 80, 1);
  CHECK(idle.take(1) == 1);
  idle.put(2, 80, 2);
  CHECK_FALSE(idle.is_too_much());
}
