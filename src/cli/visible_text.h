// Names and messages of others on a terminal: a control character of theirs moves no cursor, paints
// nothing and begins no line that looks like ours. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::cli {

// Control characters as \n, \t or \x1b; what is no UTF-8 replaced.
[[nodiscard]] std::string visible(std::string_view text);
// The same, but lines stay lines: those after the first are indented.
[[nodiscard]] std::string visible_lines(std::string_view text);

}  // namespace assay::cli
