// May this client's calls start commands on this machine? A kernel runs confined; a plan's command,
// a commit's build or a scenario are the operator's own programs. The one who started the server on
// its standard streams is the operator; one who comes over the network is not, unless the operator
// said so.
#pragma once

#include <optional>

#include "mcp/tool.h"

namespace assay::tools {

enum class Commands { allowed, refused };

// The answer to give instead of running anything; nothing: go on.
[[nodiscard]] std::optional<mcp::ToolResult> refuse_commands(Commands commands);

}  // namespace assay::tools
