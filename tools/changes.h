// What an agent changed between two jobs: source, launch, contract, metadata, reference, options,
// and the machine's own part, device and compiler. For the answer to `baseline`. Pure; any thread.
#pragma once

#include <string>

#include "engine/job/record.h"
#include "mcp/json.h"

namespace assay::tools {

// A list of {what, pointer, then, now}, and for a source {what, pointer, lines_added,
// lines_removed, first_line}. Pointers are those of the tool's arguments. What one side has not is
// null.
[[nodiscard]] mcp::OrderedJson changes_between(const job::JobRecord& then,
                                               const job::JobRecord& now);

// "source (3 lines added, 1 removed, from line 12), launch.block.x 128 → 256"; "nothing".
[[nodiscard]] std::string changes_text(const mcp::OrderedJson& changes);

}  // namespace assay::tools
