// Between a tool that reports as often as it likes and a client that is told in order and in
// measure. Values must grow; a burst passes at once, then one per interval; of what is held back
// the newest is delivered when its time comes. Nothing passes once the gate is closed, which its
// owner does before it answers. tell() may be called from any thread, close() from the event thread
// only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "mcp/event_loop.h"
#include "mcp/tool.h"

namespace assay::mcp {

class ProgressGate : public std::enable_shared_from_this<ProgressGate> {
 public:
  // `send` runs on the event thread, never after close().
  ProgressGate(EventLoop& loop, int burst, std::chrono::milliseconds interval,
               std::function<void(const Progress&)> send);

  void tell(Progress progress);
  void close();

 private:
  void refill(Clock::time_point now);
  void post(Progress progress);
  void flush();

  EventLoop& loop_;
  const int burst_;
  const std::chrono::milliseconds interval_;
  std::function<void(const Progress&)> send_;  // event thread only

  std::mutex mutex_{};
  std::optional<double> last_{};
  int tokens_;
  Clock::time_point refilled_;
  std::optional<Progress> held_{};
  bool closed_ = false;
};

}  // namespace assay::mcp
