// How a tool that has a job answers: waits up to `wait_s`, tells each stage as progress, cancels
// the job if the call that made it is cancelled, and returns the report as it then stands.
#pragma once

#include "engine/contract/contract.h"
#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

// For the call that made the job.
[[nodiscard]] mcp::ToolResult answer_for_new_job(Jobs& jobs, const std::string& job_id,
                                                 const mcp::Json& arguments,
                                                 const std::vector<contract::Violation>& warnings,
                                                 mcp::CallContext& context);

// For any later question. `arguments` may hold wait_s and detail.
[[nodiscard]] mcp::ToolResult answer_for_job(Jobs& jobs, const std::string& job_id,
                                             const mcp::Json& arguments, mcp::CallContext& context);

}  // namespace assay::tools
