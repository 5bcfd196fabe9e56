// Members of a kernel's `metadata`. What is unknown there is the caller's own to say (the manual's
// "custom metadata") and has no effect, but for what is meant as a known one: with a misspelt name
// of the target another target would be run, and might pass. The one place that decides, for every
// kernel type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/contract/contract.h"
#include "mcp/json.h"

namespace assay::tools {

// `at`: the metadata's own pointer. Refused is a member that is a misspelt name of a target; of one
// that has no effect, though it looks as if it were to have one, a warning is left.
void check_metadata_keys(const mcp::Json& metadata, std::string_view kernel_type,
                         const std::string& at, std::vector<contract::Violation>& violations,
                         std::vector<contract::Violation>& warnings);

}  // namespace assay::tools
