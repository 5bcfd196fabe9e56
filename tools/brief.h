// A report cut down to what a model acts on: about 2,000 tokens whatever the job has to say. What
// is left out is counted in the report and stands in the full one, or in the job's resources. Pure.
#pragma once

#include "mcp/json.h"

namespace assay::tools {

void make_brief(mcp::OrderedJson& report);
// The same for build_io_contract. A contract is never cut: a large one is left out whole, and
// `io_contract_omitted` says how to get it.
void make_contract_brief(mcp::OrderedJson& answer);

}  // namespace assay::tools
