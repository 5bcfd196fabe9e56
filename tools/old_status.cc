#include "tools/old_status.h"

#include <string>
#include <utility>

namespace assay::tools {

using mcp::OrderedJson;

void as_old_status(mcp::ToolResult& result) {
  OrderedJson& told = result.structured;
  // The list of recent jobs has no state, and is new.
  if (!told.is_object() || !told.contains("job_id") || !told.contains("state")) return;
  const std::string state = told.at("state").get<std::string>();
  told["status"] = state;
  OrderedJson details = told.value("error", OrderedJson());
  OrderedJson error;
  if (state == "not_found")
    error = details.value("message", std::string());
  else if (state == "failed" || state == "interrupted" || state == "cancelled")
    error = told.value("summary", std::string());
  told["error"] = std::move(error);
  if (details.is_object()) told["error_details"] = std::move(details);
}

}  // namespace assay::tools
