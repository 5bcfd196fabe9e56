#include "tools/refusal.h"

namespace assay::tools {

using mcp::OrderedJson;
using mcp::ToolResult;

ToolResult refuse(const std::vector<contract::Violation>& violations) {
  OrderedJson list = OrderedJson::array();
  std::string text = "Refused; nothing was run.\n";
  for (const auto& violation : violations) {
    list.push_back({{"pointer", violation.pointer}, {"message", violation.message}});
    text += violation.pointer + ": " + violation.message + "\n";
  }
  ToolResult result{.structured = {{"status", "client_error"}}, .text = text, .is_error = true};
  result.structured["error"] = {{"violations", std::move(list)}};
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
