// What changed since an earlier job: for an agent that goes from attempt to attempt. Pure.
#pragma once

#include "engine/job/record.h"
#include "mcp/json.h"

namespace assay::tools {

// {job_id, change: better|worse|same, detail, verdict: {then, now}, changed: what was changed to
// get there (changes.h), wrong_share?, thread_instructions?}. Better is: a later stage reached,
// else fewer wrong elements, else (both passed) at least 1 % fewer instructions executed. The
// emulator's times decide nothing.
[[nodiscard]] mcp::OrderedJson change_since(const job::JobRecord& then, const job::JobRecord& now);

}  // namespace assay::tools
