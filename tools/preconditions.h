// What a call that makes a kernel job asks of the machine before the job is made. Each gives the
// answer to return, or nothing: go on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

// Whether runners that are confined at `level` are confined as much as `wanted` says.
[[nodiscard]] bool is_at_least(std::string_view level, std::string_view wanted);

// `min_isolation`, if `arguments` has one.
[[nodiscard]] std::optional<mcp::ToolResult> refuse_isolation(Jobs& jobs,
                                                              const mcp::Json& arguments);

// `device`: auto, emulator or gpu:N.
[[nodiscard]] std::optional<mcp::ToolResult> refuse_device(Jobs& jobs, const std::string& device);

// `argument` names the kernel. A kernel type that needs what this server lacks: an answer, not a
// refusal.
[[nodiscard]] std::optional<mcp::ToolResult> unsupported_type(const std::string& argument,
                                                              const std::string& kernel_type);

}  // namespace assay::tools
