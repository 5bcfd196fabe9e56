// The one report, partial or final, from what the journal holds of a job. Pure; any thread. Shape:
// schemas/report.json; names and milliseconds where the manual has them (`runtime`,
// `runtime_stats`), nanoseconds everywhere else.
#pragma once

#include "engine/job/record.h"
#include "mcp/tool.h"

namespace assay::tools {

enum class Detail { brief, full };  // brief: what a model acts on; full: every stage with its body

[[nodiscard]] mcp::OrderedJson report(const job::JobRecord& record, Detail detail);

// Two to six lines for a model: verdict, the one cause, where, the one next step, what was
// measured; of a sweep one more for each of its first variants.
[[nodiscard]] std::string report_text(const mcp::OrderedJson& report);

// The call could not judge: an engine fault, or a job that its server or engine left behind.
[[nodiscard]] bool is_error(const job::JobRecord& record);

// Whole seconds, UTC: "2026-01-31T12:00:00Z".
[[nodiscard]] std::string iso_time(std::int64_t unix_ns);

// One line of the list of recent jobs.
[[nodiscard]] mcp::OrderedJson job_line(const job::JobRecord& record);

}  // namespace assay::tools
