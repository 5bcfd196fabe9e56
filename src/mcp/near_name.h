// "did you mean": the known name closest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

// Empty when none is close: at most a third of the letters differ (at least one), letter case
// aside.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& known);

}  // namespace assay::mcp
