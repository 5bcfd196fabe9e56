// The embedded schemas by file name: the contract, hand-written, served as they are.
#pragma once

#include <string_view>

#include "mcp/json.h"

namespace assay::tools {

// Throws std::out_of_range for a name that is not embedded: a bug of ours.
[[nodiscard]] std::string_view schema_text(std::string_view file_name);
[[nodiscard]] mcp::OrderedJson schema(std::string_view file_name);

}  // namespace assay::tools
