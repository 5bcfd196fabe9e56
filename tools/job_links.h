// What there is to read beyond an answer about a job: a few links, each to something longer than
// what the answer says of it. Pure; any thread.
#pragma once

#include <vector>

#include "mcp/tool.h"
#include "tools/report.h"

namespace assay::tools {

// The compiler's log if the answer has it cut, the PTX; of a brief answer also the samples behind
// its times and the report in full, once there is a whole one.
[[nodiscard]] std::vector<mcp::ResourceLink> links_of(const job::JobRecord& record, Detail detail);

}  // namespace assay::tools
