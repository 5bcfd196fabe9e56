// The arguments of a call against its tool's schema, as every way of calling checks them: nothing
// given stands for nothing said, JSON sent as text is read, then the schema decides. Pure; any
// thread.
#pragma once

#include <vector>

#include "mcp/json.h"
#include "mcp/schema.h"

namespace assay::mcp {

// Makes `arguments` what the tool takes; empty: they are. A null member is left out where its
// schema has no null: many clients send every argument, null for those not given. A mandatory one
// stays, for the schema to refuse.
[[nodiscard]] std::vector<Violation> check_arguments(const Schema& schema, Json& arguments);

}  // namespace assay::mcp
