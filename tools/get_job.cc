// get_job: the report of one job as it stands, or the caller's recent jobs.
#include "tools/job_answer.h"
#include "tools/report.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

ToolResult list(Jobs& jobs, const Json& arguments, const CallContext& context) {
  const auto limit = arguments.value("limit", std::size_t{20});
  OrderedJson lines = OrderedJson::array();
  std::string text;
  for (const auto& record : jobs.recent(context.principal, limit)) {
    OrderedJson line = job_line(record);
    text += line.at("created").get<std::string>() + "  " + line.at("job_id").get<std::string>() +
            "  " + line.at("state").get<std::string>() +
            (record.verdict ? "  " + std::string(job::name(*record.verdict)) : "") + "\n";
    lines.push_back(std::move(line));
  }
  if (text.empty()) text = "No jobs yet.";
  ToolResult result{.text = std::move(text)};
  result.structured = {{"jobs", std::move(lines)}};
  return result;
}

}  // namespace

mcp::Tool get_job(Jobs& jobs) {
  return {.name = "get_job",
          .title = "Get a job's report",
          .description =
              "The report of a job as it stands: state, stages so far, verdict once there is one. "
              "With wait_s it waits for the end. Without job_id: your recent jobs.",
          .annotations = {.read_only = true,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("get_job.input.json"),
          .output_schema = schema("job_list.json"),
          .run =
              [&jobs](const Json& arguments, CallContext& context) {
                if (!arguments.contains("job_id")) return list(jobs, arguments, context);
                return answer_for_job(jobs, arguments.at("job_id"), arguments, context);
              },
          .aliases = {{.name = "get_job_status"}}};
}

}  // namespace assay::tools
