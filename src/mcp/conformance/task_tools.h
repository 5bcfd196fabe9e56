// The suite's tools that answer with tasks, and the tasks: held in memory, their progress a matter
// of the clock and of what the client has answered. Any thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mcp/task.h"
#include "mcp/tool.h"

namespace assay::mcp::conformance {

class FixtureTasks {
 public:
  struct Plan {
    std::chrono::milliseconds time{0};
    std::string text{};  // of the result, or of the error
    bool is_error = false;
    bool fails = false;                             // a protocol error instead of a result
    OrderedJson questions = OrderedJson::object();  // all to be answered before it goes on
  };

  [[nodiscard]] TaskHandle start(Plan plan);
  [[nodiscard]] std::optional<TaskState> get(const std::string& id);
  [[nodiscard]] bool cancel(const std::string& id);
  [[nodiscard]] bool update(const std::string& id, const Json& responses);

 private:
  struct Entry {
    Plan plan{};
    TaskHandle handle{};
    std::chrono::steady_clock::time_point due{};
    bool cancelled = false;
  };

  [[nodiscard]] static TaskHandle handle_of(const Entry& entry);

  std::mutex mutex_{};
  std::map<std::string, Entry> entries_{};
};

[[nodiscard]] std::vector<Tool> task_tools(const std::shared_ptr<FixtureTasks>& tasks);
// In front of what `into` has already.
void add_tasks(const std::shared_ptr<FixtureTasks>& tasks, Tasks& into);

}  // namespace assay::mcp::conformance
