// The product's tools, in the order in which they are listed. One file each; main() passes what
// they need. `jobs` must outlive the tools.
#pragma once

#include <string>
#include <vector>

#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

[[nodiscard]] mcp::Tool compile_kernel(Jobs& jobs);
[[nodiscard]] mcp::Tool evaluate(Jobs& jobs);
[[nodiscard]] mcp::Tool compare(Jobs& jobs);
[[nodiscard]] mcp::Tool get_job(Jobs& jobs);
[[nodiscard]] mcp::Tool cancel_job(Jobs& jobs);
[[nodiscard]] mcp::Tool check_capabilities(Jobs& jobs);

[[nodiscard]] std::vector<mcp::Tool> all(Jobs& jobs);

// What `initialize` and `server/discover` tell a model about the server as a whole.
[[nodiscard]] std::string instructions();

}  // namespace assay::tools
