// What can be read of jobs: one with its report, a part of it, the recent ones. Another principal's
// are not there. Any thread.
#pragma once

#include <string>

#include "mcp/http/site.h"
#include "rest/answers.h"
#include "tools/jobs.h"

namespace assay::rest {

// `rest`: what follows "/job/": "{id}" or "{id}/{part}".
[[nodiscard]] HttpAnswer job_answer(tools::Jobs& jobs, const std::string& rest,
                                    const mcp::http::Visit& visit);
[[nodiscard]] HttpAnswer recent_jobs(tools::Jobs& jobs, const mcp::http::Visit& visit);

}  // namespace assay::rest
