#include "tools/refusal.h"

#include "mcp/told_violations.h"

namespace assay::tools {

using mcp::OrderedJson;
using mcp::ToolResult;

ToolResult refuse(const std::vector<contract::Violation>& violations) {
  std::vector<mcp::Violation> found;
  found.reserve(violations.size());
  for (const auto& violation : violations)
    found.push_back({.pointer = violation.pointer, .message = violation.message});
  mcp::ToldViolations told = mcp::told_violations(found);
  ToolResult result{.structured = {{"status", "client_error"}},
                    .text = "Refused; nothing was run.\n" + told.text,
                    .is_error = true};
  result.structured["error"] = std::move(told.error);
  return result;
}

ToolResult refuse(const std::string& pointer, const std::string& message) {
  return refuse({{.pointer = pointer, .message = message}});
}

ToolResult server_fault(const std::string& message, bool retryable) {
  return {.structured = {{"status", "error"},
                         {"verdict", "engine_fault"},
                         {"retryable", retryable},
                         {"summary", message}},
          .text = message,
          .is_error = true};
}

}  // namespace assay::tools
