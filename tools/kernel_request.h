// What evaluate and compare have in common: the arguments of a call that judges a kernel, from the
// caller's JSON to the order the engine takes, and the one way from an order to an answer.
#pragma once

#include <vector>

#include "engine/contract/contract.h"
#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

struct KernelRequest {
  nlohmann::json order = nlohmann::json::object();  // see engine/node/kernel_task.h
  std::vector<contract::Violation> violations{};
  std::vector<contract::Violation> warnings{};
};

// Which argument holds which kernel.
struct KernelRoles {
  const char* judged = "kernel";
  const char* reference = "ref_kernel";
};

// The order is meaningful only if there are no violations.
[[nodiscard]] KernelRequest read_kernel_request(const mcp::Json& arguments,
                                                const KernelRoles& roles);

// Refuses what this machine cannot do, else makes a job of it and answers as `wait_s` and `detail`
// ask.
[[nodiscard]] mcp::ToolResult judge(Jobs& jobs, KernelRequest request, const KernelRoles& roles,
                                    const mcp::Json& arguments, mcp::CallContext& context);

}  // namespace assay::tools
