// Parts of a job that are made of its record when somebody asks, instead of being kept: its
// sources, the samples behind its times, their histogram, its place under the roofline. Pure; any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/job/record.h"
#include "mcp/resource.h"

namespace assay::tools {

// "source", "ref_source", "samples", "plot.svg", "roofline.svg". Nothing: the job has none of that
// name.
[[nodiscard]] std::optional<mcp::ResourceContents> job_part(const job::JobRecord& record,
                                                            const std::string& name);
// The names that job_part() has something for.
[[nodiscard]] std::vector<std::string> job_parts(const job::JobRecord& record);
[[nodiscard]] std::string media_type_of_part(const std::string& name);

}  // namespace assay::tools
