#include "mcp/task_calls.h"

#include "mcp/codec.h"
#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxEchoBytes = 100;

RpcError unknown_task(const std::string& id) {
  return {.code = ErrorCode::invalid_params,
          .message = "unknown or expired task \"" + shortened(id, kMaxEchoBytes) + '"'};
}

}  // namespace

void TaskCalls::get(const Call& call, const TaskParams& params, Reply reply,
                    ToolCalls& pool) const {
  if (const auto missing = missing_tasks(call.client)) return reply.error(*missing);
  pool.defer(call, std::move(reply), "tasks/get",
             [this, id = params.task_id](const CallContext& context) -> ToolCalls::Ending {
               const auto task = tasks_.get(id, context);
               if (!task) return unknown_task(id);
               return encode(task_result(identity_, *task, context.client.revision));
             });
}

void TaskCalls::cancel(const Call& call, const TaskParams& params, Reply reply,
                       ToolCalls& pool) const {
  if (const auto missing = missing_tasks(call.client)) return reply.error(*missing);
  pool.defer(call, std::move(reply), "tasks/cancel",
             [this, id = params.task_id](const CallContext& context) {
               return acknowledged(tasks_.cancel(id, context), id, context.client.revision);
             });
}

void TaskCalls::update(const Call& call, const UpdateParams& params, Reply reply,
                       ToolCalls& pool) const {
  if (const auto missing = missing_tasks(call.client)) return reply.error(*missing);
  if (!params.input_responses.is_object())
    return reply.error(invalid_params({{.pointer = "/params/inputResponses",
                                        .keyword = "required",
                                        .message = "required, an object"}}));
  pool.defer(call, std::move(reply), "tasks/update",
             [this, id = params.task_id](const CallContext& context) {
               const bool known = tasks_.update(id, context.input_responses, context);
               return acknowledged(known, id, context.client.revision);
             });
}

ToolCalls::Ending TaskCalls::acknowledged(bool known, const std::string& id,
                                          Revision revision) const {
  if (!known) return unknown_task(id);
  return encode(complete_result(OrderedJson::object(), identity_, revision));
}

}  // namespace assay::mcp
