// cancel_job: ends a job and all its processes; the answer is its report after that.
#include "tools/job_answer.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::ToolResult;

// A kill takes milliseconds; the rest is for a machine under load.
constexpr double kCancelWaitS = 10;

ToolResult run(Jobs& jobs, const Json& arguments, CallContext& context) {
  const std::string job_id = arguments.at("job_id");
  if (jobs.cancel(job_id, context.principal) == Jobs::Cancelled::not_ours) {
    // No verdict: the job runs on.
    return {.structured = {{"job_id", job_id},
                           {"status", "client_error"},
                           {"error", {{"message", run_elsewhere(job_id)}}}},
            .text = run_elsewhere(job_id),
            .is_error = true};
  }
  return answer_for_job(jobs, job_id, {{"job_id", job_id}, {"wait_s", kCancelWaitS}}, context);
}

}  // namespace

mcp::Tool cancel_job(Jobs& jobs) {
  return {
      .name = "cancel_job",
      .title = "Cancel a job",
      .description = "Ends a running job and every process of it. A finished job is left as it is.",
      .annotations = {.read_only = false,
                      .destructive = true,
                      .idempotent = true,
                      .open_world = false},
      .input_schema = schema("cancel_job.input.json"),
      .output_schema = schema("job_list.json"),
      .run = [&jobs](const Json& arguments, CallContext& context) {
        return run(jobs, arguments, context);
      }};
}

}  // namespace assay::tools
