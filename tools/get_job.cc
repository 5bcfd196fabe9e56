// get_job: the report of one job as it stands, or the caller's recent jobs.
#include "mcp/codec.h"
#include "mcp/utf8.h"
#include "tools/job_answer.h"
#include "tools/old_arguments.h"
#include "tools/old_status.h"
#include "tools/report.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

constexpr std::size_t kListed = 10;
constexpr std::size_t kTold = 5;  // in the text; the structured half has them all
constexpr std::size_t kSummaryBytes = 200;
constexpr std::size_t kListBytes = 5'000;  // of a short list: the text and the rest have 1,000

std::string told(const job::JobRecord& record, const OrderedJson& line) {
  return line.at("created").get<std::string>() + "  " + line.at("job_id").get<std::string>() +
         "  " + line.at("state").get<std::string>() +
         (record.verdict ? "  " + std::string(job::name(*record.verdict)) : "") + "\n";
}

ToolResult list(Jobs& jobs, const Json& arguments, const CallContext& context) {
  const auto limit = arguments.value("limit", kListed);
  const bool is_full = arguments.value("detail", "short") == "full";
  auto records = jobs.recent(context.principal, limit + 1);
  const bool has_older = records.size() > limit;
  if (has_older) records.pop_back();
  OrderedJson lines = OrderedJson::array();
  std::string text;
  std::size_t bytes = 0;
  for (const auto& record : records) {
    OrderedJson line = job_line(record);
    auto& summary = line.at("summary").get_ref<std::string&>();
    if (!is_full) summary = mcp::shortened(summary, kSummaryBytes);
    bytes += mcp::encode(line).size() + 1;
    if (!is_full && bytes > kListBytes) break;
    if (lines.size() < kTold) text += told(record, line);
    lines.push_back(std::move(line));
  }
  if (lines.size() > kTold)
    text += "and " + std::to_string(lines.size() - kTold) + " more in `jobs`. ";
  const std::size_t left_out = records.size() - lines.size();
  if (left_out > 0) text += std::to_string(left_out) + " more with detail \"full\". ";
  if (has_older) text += "There are older ones: limit up to 200.";
  if (text.empty()) text = "No jobs yet.";
  ToolResult result{.text = std::move(text)};
  result.structured = {{"jobs", std::move(lines)}};
  if (left_out > 0) result.structured["jobs_total"] = records.size();
  if (has_older) result.structured["older"] = true;
  return result;
}

}  // namespace

mcp::Tool get_job(Jobs& jobs) {
  return {
      .name = "get_job",
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
      .aliases = {{.name = "get_job_status", .adapt = without_request, .present = as_old_status}}};
}

}  // namespace assay::tools
