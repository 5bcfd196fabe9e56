// What people start a conversation with: a kernel written, made faster, or explained, by way of
// this server's tools.
#pragma once

#include <vector>

#include "mcp/prompt.h"
#include "tools/jobs.h"

namespace assay::tools {

// `jobs` must outlive the prompts.
[[nodiscard]] std::vector<mcp::Prompt> prompts(Jobs& jobs);

}  // namespace assay::tools
