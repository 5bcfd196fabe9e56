// A caller's jobs as resources: the whole report of each, and what its stages left behind.
//
//   assay://jobs/{job_id}              the report in full, every stage with its body
//   assay://jobs/{job_id}/report       the same
//   assay://jobs/{job_id}/{part}       "source", "samples", "plot.svg", …: job_parts.h
//   assay://jobs/{job_id}/{artifact}   "log", "ptx", … as the report's `artifacts` name them
//   assay://jobs/{job_id}/sass         machine code, where a cubin was kept and a disassembler is;
//                                      else a BadRequest that says what is missing
//   assay://jobs/{job_id}/machine_code what is counted in it, by kernel and by source line
//
// The last also with ?offset=…&length=…, in bytes, for texts that are too long to read whole. A
// range that is none is a BadRange.
#pragma once

#include <string>
#include <utility>

#include "mcp/resource.h"
#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

// The query of the URI is at fault; `field` is the part of it.
struct BadRange : mcp::BadRequest {
  BadRange(std::string at, const std::string& what) : mcp::BadRequest(what), field(std::move(at)) {}
  std::string field;
};

// `jobs` must outlive the resources.
[[nodiscard]] mcp::Resources job_resources(Jobs& jobs);

// A job's machine code as text, made when it is asked for; `missing` says what is to be had
// instead.
[[nodiscard]] Jobs::MachineCode machine_code_of(Jobs& jobs, const job::JobRecord& record,
                                                const std::stop_token& stop);

[[nodiscard]] std::string job_uri(const std::string& job_id);
[[nodiscard]] std::string artifact_uri(const std::string& job_id, const std::string& artifact);

}  // namespace assay::tools
