// "did you mean": the known name closest to a mistyped one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

// Empty when none is close: at most a third of the letters differ (at least one), letter case
// aside.
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& known);

// Edits (insert, delete, replace, exchange of neighbours) from one name to the other, letter case
// and separators aside: 0 where they are one name. Beyond any bound for names that are no names.
[[nodiscard]] std::size_t name_distance(std::string_view one, std::string_view other);

}  // namespace assay::mcp
