// What was measured, for who reads the text of an answer only: of an evaluation one line with the
// ratio and the medians, of a sweep its first variants. Emulated times are no GPU times: of them no
// figure is told. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "mcp/json.h"

namespace assay::tools {

// Of a report, brief or full. Empty: it has no figures, or its verdict is not `passed`, so that
// they are no measure of the kernel.
[[nodiscard]] std::vector<std::string> figures_lines(const mcp::OrderedJson& report);

}  // namespace assay::tools
