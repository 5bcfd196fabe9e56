// The server in numbers: get_server_stats, and /stats with the same object. Names and units are
// those that clients of the system before this one read; every one is counted (job_counters.h) or
// read from the journal. A rate, an average or an extreme of nothing is null.
#pragma once

#include "mcp/json.h"
#include "tools/jobs.h"

namespace assay::tools {

// Throws journal::JournalUnavailable. Starts the engine if it is not running.
[[nodiscard]] mcp::OrderedJson server_stats(Jobs& jobs);

// {total_jobs, by_status, average_age}: of all that the journal holds. Throws as above.
[[nodiscard]] mcp::OrderedJson job_stats(const Jobs& jobs);

}  // namespace assay::tools
