// POST /evaluate, /compare and /: one tool each, called as MCP calls it, and its result in the
// manual's envelope. The status of every answer is decided here:
//
//   a report, whatever its verdict              200
//   the job has not ended within ?wait=         202, Location
//   the arguments alone are wrong               400
//   too many wait, and this one would           503, Retry-After
//   an engine fault, no device, a server fault  500
#pragma once

#include "mcp/http/site.h"
#include "mcp/schema.h"
#include "mcp/tool.h"
#include "rest/machine.h"
#include "rest/submission.h"
#include "tools/jobs.h"
#include "tools/library.h"

namespace assay::rest {

// Any thread; immutable.
class Judging {
 public:
  // All references must outlive this object.
  Judging(tools::Jobs& jobs, const tools::Library* library, const Machine& machine,
          Judgement judgement);

  [[nodiscard]] HttpAnswer answer(const mcp::http::Visit& visit) const;

  // The table above.
  [[nodiscard]] static int status_of(const mcp::ToolResult& result);

 private:
  [[nodiscard]] mcp::ToolResult run(const Submission& submission, mcp::CallContext& context) const;
  [[nodiscard]] HttpAnswer told(mcp::ToolResult result, const Submission& submission) const;
  // What the manual's envelope has besides the report.
  void add_envelope(mcp::OrderedJson& body, const std::string& gpu) const;

  tools::Jobs& jobs_;
  const Machine& machine_;
  const Judgement judgement_;
  const mcp::Tool tool_;
  const mcp::Tool get_job_;
  const mcp::Schema schema_;
};

}  // namespace assay::rest
