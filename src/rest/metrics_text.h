// The server's numbers as Prometheus reads them (text exposition format 0.0.4). Pure; any thread.
#pragma once

#include <string>

#include "mcp/json.h"

namespace assay::rest {

// `stats`: what tools::server_stats() gives. What it has no number for is left out.
[[nodiscard]] std::string metrics_text(const mcp::OrderedJson& stats);

}  // namespace assay::rest
