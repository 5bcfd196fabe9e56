// What clients of the system before this one look for in the answer of get_job_status: they poll
// `status` until it is the state that they wait for, and `error` is a text or null. The report
// stands beside it. Pure.
#pragma once

#include "mcp/tool.h"

namespace assay::tools {

void as_old_status(mcp::ToolResult& result);

}  // namespace assay::tools
