// The tools of a server that is running already, as if they were here: each call is a request of
// its own, and giving it up cancels it there. For `assay call --url`.
#pragma once

#include <string>
#include <vector>

#include "mcp/tool.h"

namespace assay::cli {

// Asks the server what it has. `asked` is among the tools also if it is a name that the server
// takes without listing it. `url` names the server ("http://127.0.0.1:8000") or its endpoint
// ("…/mcp"); `ca_file` (in PEM) vouches for one of https, empty: whom this machine trusts. Throws
// std::invalid_argument for a URL that is none, std::runtime_error if the server cannot be reached,
// wants another token or answers something else than MCP.
[[nodiscard]] std::vector<mcp::Tool> remote_tools(const std::string& url, const std::string& token,
                                                  const std::string& ca_file,
                                                  const std::string& asked);

}  // namespace assay::cli
