// The walk behind Schema::check: a schema and a value side by side.
#pragma once

#include <vector>

#include "mcp/json.h"
#include "mcp/schema.h"

namespace assay::mcp {

[[nodiscard]] std::vector<Violation> check_value(const Schema& schema, const Json& value);

}  // namespace assay::mcp
