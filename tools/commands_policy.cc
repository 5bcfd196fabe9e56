#include "tools/commands_policy.h"

#include "tools/refusal.h"

namespace assay::tools {

std::optional<mcp::ToolResult> refuse_commands(Commands commands) {
  if (commands == Commands::allowed) return std::nullopt;
  return refuse("",
                "this server starts no commands for clients over HTTP; its operator may allow it "
                "with `assay serve --allow-commands`");
}

}  // namespace assay::tools
