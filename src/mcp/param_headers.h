// Arguments of a tool that its schema wants repeated in headers ("x-mcp-header"), so that what
// stands between client and server can route by them without reading the body. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "mcp/json.h"

namespace assay::mcp {

struct ParamHeader {
  std::vector<std::string> path{};  // member names, from the arguments inwards
  std::string name{};               // of the header, after "Mcp-Param-"
};

// Of an input schema: properties of properties, nothing behind a $ref, an array or a condition.
[[nodiscard]] std::vector<ParamHeader> param_headers(const Json& schema);

// The argument at `path`; null if it is not there.
[[nodiscard]] const Json* argument_at(const Json& arguments, const std::vector<std::string>& path);

}  // namespace assay::mcp
