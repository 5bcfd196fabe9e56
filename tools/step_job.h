// What the tools that make a job of steps share: paths below the allowed roots, the job made and
// answered for.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/contract/contract.h"
#include "engine/job/kind.h"
#include "mcp/tool.h"
#include "tools/commands_policy.h"
#include "tools/jobs.h"
#include "tools/library.h"

namespace assay::tools {

// An argument that names a file or folder on this machine, located; a violation if it cannot be.
[[nodiscard]] std::optional<std::filesystem::path> located(
    const Library* library, const std::string& path, const std::string& pointer,
    std::vector<contract::Violation>& violations);

// Recorded, run, waited for, answered.
[[nodiscard]] mcp::ToolResult make_step_job(Jobs& jobs, const job::Kind& kind,
                                            nlohmann::json request, const mcp::Json& arguments,
                                            mcp::CallContext& context);

// Those of `keys` that `arguments` has, as they are.
void copy_members(const mcp::Json& arguments, std::initializer_list<const char*> keys,
                  nlohmann::json& into);

}  // namespace assay::tools
