// What evaluate and compare have in common: a call that judges a kernel, from its arguments to its
// answer.
#pragma once

#include "mcp/tool.h"
#include "tools/jobs.h"
#include "tools/library.h"

namespace assay::tools {

// Which argument holds which kernel.
struct KernelRoles {
  const char* judged = "kernel";
  const char* reference = "ref_kernel";
};

// Refuses what the arguments alone or this machine rule out, else makes a job (engine/node/
// kernel_task.h has its form) and answers as `wait_s` and `detail` ask. Without a library nothing
// can be named instead of given.
[[nodiscard]] mcp::ToolResult judge(Jobs& jobs, const Library* library, const KernelRoles& roles,
                                    const mcp::Json& arguments, mcp::CallContext& context);

}  // namespace assay::tools
