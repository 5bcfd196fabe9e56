// A call that goes on after it has been answered (the tasks extension): the client gets a handle
// and asks for the result later. A task is durable before it is told of; it belongs to the
// principal of its call. Whoever owns the server keeps the tasks and hands over these functions;
// they run on a pool thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mcp/tool.h"

namespace assay::mcp {

// A tool that ran and failed is `completed`; `failed` is the server's own fault.
struct TaskState {
  TaskHandle handle{};
  std::optional<ToolResult> result{};    // completed
  std::string error{};                   // failed: why
  OrderedJson input_requests = nullptr;  // input_required
};

struct Tasks {
  // Nothing: there is none of that id, or it is somebody else's.
  std::function<std::optional<TaskState>(const std::string& id, const CallContext& context)> get{};
  // False: as above. A task that has ended stays as it is.
  std::function<bool(const std::string& id, const CallContext& context)> cancel{};
  std::function<bool(const std::string& id, const Json& responses, const CallContext& context)>
      update{};

  // `changed` is told the id of every task that has changed, from any thread; it returns at once.
  // It is not called any more once the handle is gone. Empty: nobody is told of changes.
  std::function<std::shared_ptr<void>(std::function<void(const std::string& id)> changed)>
      observe{};

  [[nodiscard]] bool offered() const { return static_cast<bool>(get); }
};

}  // namespace assay::mcp
