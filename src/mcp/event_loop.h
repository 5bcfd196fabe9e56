// What the dispatcher needs of the thread that owns it: to be called back there. Both functions may
// be called from any thread; tasks run on the event thread, in the order in which they were posted.
#pragma once

#include <chrono>
#include <functional>

namespace assay::mcp {

using Task = std::function<void()>;
using Clock = std::chrono::steady_clock;

class EventLoop {
 public:
  virtual ~EventLoop() = default;
  virtual void post(Task task) = 0;
  virtual void post_at(Clock::time_point when, Task task) = 0;
};

}  // namespace assay::mcp
