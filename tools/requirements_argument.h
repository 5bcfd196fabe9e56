// `requires` of a request: what a run asks of the machine. Pure; any thread.
#pragma once

#include <vector>

#include "engine/contract/contract.h"
#include "mcp/json.h"

namespace assay::tools {

// Adds what is malformed of them, under /requires.
void check_requirements(const mcp::Json& needs, std::vector<contract::Violation>& violations);

}  // namespace assay::tools
