// The report of a job made of steps (plans, generators, commits, scenarios): the envelope of every
// report, and what the job's kind says of itself. Partial while it runs: what its stages have told
// so far. Pure; any thread. Shape: schemas/steps_report.json.
#pragma once

#include <optional>
#include <string>

#include "tools/report.h"

namespace assay::tools {

[[nodiscard]] bool is_of_steps(const job::JobRecord& record);
[[nodiscard]] mcp::OrderedJson steps_report(const job::JobRecord& record, Detail detail);

// How far it is: the last stage in words, and how many there will be if that is known.
[[nodiscard]] std::string steps_progress(const job::JobRecord& record);
[[nodiscard]] std::optional<double> steps_total(const job::JobRecord& record);

}  // namespace assay::tools
