// The hard cap of an answer: what a caller says with `max_tokens` is all that it gets, the text and
// the structured half together. The heaviest lists and texts are cut first; what is cut is told in
// `truncated` [{pointer, kept, of}] (the first eight cuts, fewer where they alone are too long),
// `of` being what there was: items of a list, bytes of a text; a member that means nothing in part
// is left out whole (kept 0). Which job it is and how it ended is never cut. Pure.
#pragma once

#include <cstddef>

#include "mcp/tool.h"

namespace assay::tools {

// A token is taken as three bytes.
void cap(mcp::ToolResult& result, std::size_t max_tokens);

// The tool, its answers capped for callers that say `max_tokens`, if its schema has that.
[[nodiscard]] mcp::Tool capped(mcp::Tool tool);

}  // namespace assay::tools
