// The product's tools, in the order in which they are listed. One file each; main() passes what
// they need. `jobs` and `library` must outlive the tools; without a library no file, stored
// contract or earlier job can be named.
#pragma once

#include <string>
#include <vector>

#include "mcp/tool.h"
#include "tools/commands_policy.h"
#include "tools/jobs.h"
#include "tools/library.h"

namespace assay::tools {

[[nodiscard]] mcp::Tool compile_kernel(Jobs& jobs, const Library* library = nullptr);
[[nodiscard]] mcp::Tool evaluate(Jobs& jobs, const Library* library = nullptr);
[[nodiscard]] mcp::Tool compare(Jobs& jobs, const Library* library = nullptr);
[[nodiscard]] mcp::Tool sweep(Jobs& jobs, const Library* library = nullptr);
[[nodiscard]] mcp::Tool build_io_contract(Jobs& jobs, const Library* library = nullptr);
[[nodiscard]] mcp::Tool get_job(Jobs& jobs);
[[nodiscard]] mcp::Tool cancel_job(Jobs& jobs);
[[nodiscard]] mcp::Tool check_capabilities(Jobs& jobs);
[[nodiscard]] mcp::Tool run_plan(Jobs& jobs, const Library* library, Commands commands);
[[nodiscard]] mcp::Tool get_server_stats(Jobs& jobs);
[[nodiscard]] mcp::Tool run_test_generator(Jobs& jobs, const Library* library, Commands commands);

[[nodiscard]] mcp::Tool run_scenario(Jobs& jobs, const Library* library, Commands commands);
[[nodiscard]] mcp::Tool benchmark_commits(Jobs& jobs, const Library* library, Commands commands);

[[nodiscard]] std::vector<mcp::Tool> all(Jobs& jobs, const Library* library = nullptr,
                                         Commands commands = Commands::allowed);
// Those without the four that run steps of the user's own (plans, generators, commits, scenarios),
// for a model that has no use for them and would pay for their description.
[[nodiscard]] std::vector<mcp::Tool> kernel_tools(Jobs& jobs, const Library* library = nullptr);

// What build_io_contract does, for who has no jobs. REQUIRES arguments that satisfy
// schemas/build_io_contract.input.json.
[[nodiscard]] mcp::ToolResult build_contract(const mcp::Json& arguments,
                                             const References& references);

// What a call may refer to: the library, and the caller's own jobs.
[[nodiscard]] References references_of(Jobs& jobs, const Library* library,
                                       const mcp::CallContext& context);

// What `initialize` and `server/discover` tell a model about the server as a whole.
[[nodiscard]] std::string instructions();

}  // namespace assay::tools
