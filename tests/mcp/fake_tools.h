// A tool set that exercises every path of the protocol and nothing else. Stateless apart from the
// counters, which tests read from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "mcp/tool.h"

namespace assay::mcp {

struct FakeToolCounters {
  std::atomic<int> started{0};
  std::atomic<int> stopped{0};
};

// In order: echo, count (progress), wait (until cancelled or its time is over), fail (throws),
// refuse (isError), shape (nested schema), links, broken_promise.
[[nodiscard]] std::vector<Tool> fake_tools(
    const std::shared_ptr<FakeToolCounters>& counters = nullptr);

}  // namespace assay::mcp
