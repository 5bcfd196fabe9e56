#include "mcp/progress_gate.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace {

using namespace assay::mcp;

// Runs nothing by itself.
struct ManualLoop final : EventLoop {
  std::vector<Task> tasks{};
  std::vector<Task> timers{};
  void post(Task task) override { tasks.push_back(std::move(task)); }
  void post_at(Clock::time_point, Task task) override { timers.push_back(std::move(task)); }
  static void run(std::vector<Task>& due) {
    for (Task& task : std::exchange(due, {})) task();
  }
};

struct Gate {
  ManualLoop loop{};
  std::vector<double> sent{};
  std::shared_ptr<ProgressGate> gate{};
  explicit Gate(int burst) {
    gate = std::make_shared<ProgressGate>(
        loop, burst, std::chrono::hours(1),
        [this](const Progress& progress) { sent.push_back(progress.done); });
  }
};

}  // namespace

TEST_CASE("progress that does not grow is dropped", "[progress]") {
  Gate world(100);
  for (const double done : {1.0, 1.0, 0.5, 2.0, std::numeric_limits<double>::quiet_NaN(), 3.0})
    world.gate->tell({.done = done});
  ManualLoop::run(world.loop.tasks);
  CHECK(world.sent == std::vector<double>{1, 2, 3});
}

TEST_CASE("of a flood a burst passes, and of the rest the newest when its time comes",
          "[progress]") {
  Gate world(3);
  for (int i = 1; i <= 1000; ++i) world.gate->tell({.done = static_cast<double>(i)});
  CHECK(world.loop.tasks.size() == 3);
  CHECK(world.loop.timers.size() == 1);
  ManualLoop::run(world.loop.tasks);
  ManualLoop::run(world.loop.timers);
  CHECK(world.sent == std::vector<double>{1, 2, 3, 1000});
}

TEST_CASE("nothing passes a closed gate, not even what was under way", "[progress]") {
  Gate world(1);
  world.gate->tell({.done = 1});
  world.gate->tell({.done = 2});
  world.gate->close();
  world.gate->tell({.done = 3});
  ManualLoop::run(world.loop.tasks);
  ManualLoop::run(world.loop.timers);
  CHECK(world.sent.empty());
}
