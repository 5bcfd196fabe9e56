// The manual's REST interface and the page for people, beside MCP on the same port and over the
// same jobs. One table of paths:
//
//   POST /evaluate, /compare, /     judging.h
//   GET  /job/{id}                  {job_id, status, created_at, error, result: the report},
//                                   ?detail=short|full
//   GET  /job/{id}/{part}           report, source, log, ptx, samples, plot.svg, …: job_resources.h
//   GET  /jobs                      the caller's recent jobs, ?limit=
//   GET  /health, /stats, /metrics  500 if it is not healthy
//   POST /admin/cleanup-jobs        forgets the caller's jobs that ended 5 minutes ago
//   GET  /, /page.js, …             page.h
//
// /health and the page are shown without a token; where tokens are asked for, /health then tells
// names and kinds only.
#pragma once

#include <memory>

#include "mcp/http/site.h"
#include "tools/jobs.h"
#include "tools/library.h"

namespace assay::rest {

// The site holds references to both, and must not outlive them.
[[nodiscard]] mcp::http::Site site(tools::Jobs& jobs, const tools::Library* library);

}  // namespace assay::rest
