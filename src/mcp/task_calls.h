// tasks/get, tasks/cancel, tasks/update. Event thread only; what may block runs on the tools' pool.
#pragma once

#include <string>

#include "mcp/lifecycle.h"
#include "mcp/method_table.h"
#include "mcp/task.h"
#include "mcp/tool_calls.h"

namespace assay::mcp {

struct TaskParams {
  std::string task_id{};
  void read(Reader& reader) { reader.required("taskId", task_id); }
};

struct UpdateParams {
  std::string task_id{};
  Json input_responses{};
  void read(Reader& reader) {
    reader.required("taskId", task_id);
    reader.optional("inputResponses", input_responses);
  }
};

class TaskCalls {
 public:
  // `identity` must outlive this object.
  TaskCalls(Tasks tasks, const Identity& identity)
      : tasks_(std::move(tasks)), identity_(identity) {}

  void get(const Call& call, const TaskParams& params, Reply reply, ToolCalls& pool) const;
  void cancel(const Call& call, const TaskParams& params, Reply reply, ToolCalls& pool) const;
  void update(const Call& call, const UpdateParams& params, Reply reply, ToolCalls& pool) const;

  [[nodiscard]] const Tasks& tasks() const { return tasks_; }

 private:
  [[nodiscard]] ToolCalls::Ending acknowledged(bool known, const std::string& id,
                                               Revision revision) const;

  const Tasks tasks_;
  const Identity& identity_;
};

}  // namespace assay::mcp
