// A call refused for what its arguments alone say: isError, with one line per violation and its
// JSON pointer, so that a model can correct itself.
#pragma once

#include <vector>

#include "engine/contract/contract.h"
#include "mcp/tool.h"

namespace assay::tools {

[[nodiscard]] mcp::ToolResult refuse(const std::vector<contract::Violation>& violations);
[[nodiscard]] mcp::ToolResult refuse(const std::string& pointer, const std::string& message);

// Ours: no job could be made. `retryable` says whether the same call may succeed later.
[[nodiscard]] mcp::ToolResult server_fault(const std::string& message, bool retryable);

}  // namespace assay::tools
