// What the dispatcher needs of the thread that owns it: to be called back there. Both functions may
// be called from any thread; tasks run on the event thread, in the order in which they were posted.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

namespace assay::mcp {

using Task = std::function<void()>;
using Clock = std::chrono::steady_clock;

class EventLoop {
 public:
  virtual ~EventLoop() = default;
  virtual void post(Task task) = 0;
  virtual void post_at(Clock::time_point when, Task task) = 0;
  // Event thread. Work that is expected to be quick but may block: true, the event thread will do
  // it itself, soon, and is replaced if it takes long. False: the work is left as it was, and is
  // another thread's.
  [[nodiscard]] virtual bool carry_out(Task& /*work*/) { return false; }
  // How many threads of a pool the loop takes for itself.
  [[nodiscard]] virtual std::size_t pool_threads() const { return 0; }
};

}  // namespace assay::mcp
