// `device_metrics` of a request: off, on, or the sections that are wanted. Without it the
// environment decides, as people know it: ENABLE_DEVICE_METRICS (1, true, on) and NCU_SECTIONS
// (names, separated by commas).
//
// Pure but for the environment; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/contract/contract.h"
#include "mcp/json.h"

namespace assay::tools {

// The sections by the report's names, empty for none. An unknown name is a violation.
[[nodiscard]] std::vector<std::string> read_device_metrics(
    const mcp::Json& arguments, std::vector<contract::Violation>& violations);

}  // namespace assay::tools
