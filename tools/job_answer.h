// How a tool that has a job answers: waits up to `wait_s`, tells each stage as progress, cancels
// the job if the call that made it is cancelled, and returns the report as it then stands.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>

#include "mcp/task.h"
#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

// The id of a new job, or why there is none: it is larger than the journal takes, or cannot be
// recorded.
[[nodiscard]] std::variant<std::string, mcp::ToolResult> submit_job(Jobs& jobs,
                                                                    const job::Kind& kind,
                                                                    nlohmann::json request,
                                                                    const std::string& principal,
                                                                    std::string last_asked = {});

// For the call that made the job.
[[nodiscard]] mcp::ToolResult answer_for_new_job(Jobs& jobs, const std::string& job_id,
                                                 const mcp::Json& arguments,
                                                 mcp::CallContext& context);

// A job is a task to a client that can hold one: the task's id is the job's. It is kept for
// `kept_for` after its end; nothing: for good.
[[nodiscard]] mcp::TaskHandle task_handle(const job::JobRecord& record,
                                          std::optional<std::chrono::seconds> kept_for);
// Why a job of another server is not cancelled here.
[[nodiscard]] std::string run_elsewhere(const std::string& job_id);
// `jobs` must outlive the tasks.
[[nodiscard]] mcp::Tasks job_tasks(Jobs& jobs);

// For any later question. `arguments` may hold wait_s and detail.
[[nodiscard]] mcp::ToolResult answer_for_job(Jobs& jobs, const std::string& job_id,
                                             const mcp::Json& arguments, mcp::CallContext& context);

}  // namespace assay::tools
