#include "rest/judging.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "mcp/arguments.h"
#include "tools/tools.h"

namespace assay::rest {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

constexpr std::string_view kGpu = "gpu:";
// One question's share of a wait without an end.
constexpr int kWaitAtOnceS = 3600;
constexpr const char* kRequired = "required";

bool is_unfinished(const ToolResult& result) {
  const OrderedJson& report = result.structured;
  return !result.is_error && report.contains("job_id") && report.contains("verdict") &&
         report.at("verdict").is_null();
}

OrderedJson no_runtime() {
  OrderedJson stats = OrderedJson::object();
  for (const char* key : {"mean", "std", "min", "max", "median", "percentile_95", "percentile_99"})
    stats[key] = 0.0;
  return stats;
}

constexpr int kBusy = 503;

// That the engine ran nothing of it, for too many of the same client wait (node.cc).
bool is_one_too_many(const ToolResult& result) {
  const auto error = result.structured.find("error");
  return error != result.structured.end() && error->is_object() &&
         error->value("cause", "") == "too_many_waiting";
}

HttpAnswer too_many_wait() {
  HttpAnswer answer = json_answer(
      kBusy, {{"error",
               "too many requests wait for their jobs already; nothing was run. Try again, or ask "
               "with ?wait=0 and look at GET /job/{job_id}"},
              {"status", "error"}});
  answer.fields.push_back({"Retry-After", "1"});
  return answer;
}

// What every kernel needs, by the manual; what a rule asks for beyond that is a rule.
bool is_missing_field(const std::string& pointer, const Json& arguments) {
  const bool is_field = pointer.ends_with("/kernel_type") || pointer.ends_with("/source_code");
  return is_field && !arguments.contains(Json::json_pointer(pointer));
}

// Violations that a tool found itself, in the form of those that its schema finds.
std::vector<mcp::Violation> violations_in(const OrderedJson& refused, const Json& arguments) {
  std::vector<mcp::Violation> violations;
  const auto error = refused.find("error");
  if (error == refused.end() || !error->contains("violations")) return violations;
  for (const auto& one : error->at("violations")) {
    const std::string pointer = one.value("pointer", "");
    violations.push_back({.pointer = pointer,
                          .keyword = is_missing_field(pointer, arguments)
                                         ? kRequired
                                         : one.value("keyword", "value_error"),
                          .message = one.value("message", ""),
                          .suggestion = one.value("suggestion", "")});
  }
  return violations;
}

// As the server lists it: its faults are answers.
mcp::Tool tool_named(std::string_view name, tools::Jobs& jobs, const tools::Library* library) {
  auto tools = tools::all(jobs, library);
  const auto found = std::find_if(tools.begin(), tools.end(),
                                  [name](const mcp::Tool& tool) { return tool.name == name; });
  if (found == tools.end()) throw std::logic_error("no tool " + std::string(name));
  return std::move(*found);
}

// An engine that does not answer has told its fault in the report; the GPU's name is left out then.
std::string known_gpu_type(tools::Jobs& jobs) {
  try {
    return gpu_type(jobs.capabilities(false));
  } catch (const std::exception&) {
    return {};
  }
}

// On a machine with GPUs, too, a kernel may have been emulated.
bool ran_elsewhere(const OrderedJson& report) {
  const auto result = report.find("kernel_exec_result");
  if (result == report.end() || !result->contains("metadata")) return false;
  const std::string device = result->at("metadata").value("device", "");
  return !device.empty() && !device.starts_with(kGpu);
}

// "gpu:3" → 3.
void add_gpu_id(OrderedJson& metadata) {
  const std::string device = metadata.value("device", "");
  if (!device.starts_with(kGpu)) return;
  int index = 0;
  const auto [end, fault] =
      std::from_chars(device.data() + kGpu.size(), device.data() + device.size(), index);
  if (fault == std::errc() && end == device.data() + device.size()) metadata["gpu_id"] = index;
}

}  // namespace

Judging::Judging(tools::Jobs& jobs, const tools::Library* library, const Machine& machine,
                 Judgement judgement)
    : jobs_(jobs),
      machine_(machine),
      judgement_(judgement),
      tool_(tool_named(judgement == Judgement::evaluation ? "evaluate" : "compare", jobs, library)),
      get_job_(tool_named("get_job", jobs, library)),
      schema_(Json(tool_.input_schema)) {}

HttpAnswer Judging::answer(const mcp::http::Visit& visit) const {
  auto read = read_submission(visit.request, judgement_, tool_.input_schema);
  if (auto* refusal = std::get_if<HttpAnswer>(&read)) return std::move(*refusal);
  auto& submission = std::get<Submission>(read);
  const auto violations = mcp::check_arguments(schema_, submission.arguments);
  if (!violations.empty()) return invalid_request(violations);
  submission.arguments["wait_s"] = submission.wait_s.value_or(kWaitAtOnceS);
  // The visit waits as a whole. Without a place for that, only a visitor who can be told where to
  // ask again is served.
  const bool waits = submission.wait_s.value_or(kWaitAtOnceS) > 0;
  const auto aside = waits && visit.step_aside ? visit.step_aside() : nullptr;
  if (waits && visit.step_aside && !aside) {
    if (!submission.wait_s) return too_many_wait();
    submission.arguments["wait_s"] = 0;
  }
  CallContext context{.stop = visit.stop, .principal = visit.principal, .arrived = visit.arrived};
  return told(run(submission, context), submission);
}

ToolResult Judging::run(const Submission& submission, CallContext& context) const {
  ToolResult result = tool_.run(submission.arguments, context);
  while (!submission.wait_s && is_unfinished(result) && !context.stop.stop_requested()) {
    context.arrived = std::chrono::steady_clock::now();  // a question of its own
    result = get_job_.run({{"job_id", result.structured.at("job_id")},
                           {"wait_s", kWaitAtOnceS},
                           {"detail", submission.arguments.at("detail")}},
                          context);
  }
  // The tool itself cancels for who leaves while it waits; beyond that it is ours to do.
  if (context.stop.stop_requested() && is_unfinished(result))
    (void)jobs_.cancel(result.structured.at("job_id"), context.principal);
  return result;
}

int Judging::status_of(const ToolResult& result) {
  const std::string status = result.structured.value("status", "error");
  if (status == "client_error") return 400;
  if (result.structured.value("state", "") == "not_found") return 404;
  if (result.is_error) return 500;
  if (is_one_too_many(result)) return kBusy;
  return is_unfinished(result) ? 202 : 200;
}

HttpAnswer Judging::told(ToolResult result, const Submission& submission) const {
  const int status = status_of(result);
  OrderedJson& body = result.structured;
  if (status == 400) {
    const auto violations = violations_in(body, submission.arguments);
    return violations.size() == 1 && violations.front().keyword != kRequired
               ? broken_rule(violations.front().pointer, violations.front().message)
               : invalid_request(violations);
  }
  // Forgotten while it was waited for.
  if (status == 404) return no_such_job(body.value("job_id", ""));
  const std::string gpu = ran_elsewhere(body) ? std::string() : known_gpu_type(jobs_);
  add_envelope(body, gpu);
  if (status == 500) {
    // The manual's clients expect a text here.
    if (body.contains("error")) body["error_details"] = body.at("error");
    body["error"] = body.value("summary", result.text);
    body["compilation_method"] = "nvrtc";
    if (!body.contains("ref_runtime")) body["ref_runtime"] = OrderedJson::object();
  }
  for (const std::string& name : submission.ignored)
    body["warnings"].push_back(
        {{"code", "ignored_member"}, {"message", "'" + name + "' is unknown and was ignored"}});
  HttpAnswer answer = json_answer(status, body);
  if (!gpu.empty()) answer.fields.push_back({"X-GPU-Type", gpu});
  if (status == kBusy) answer.fields.push_back({"Retry-After", "1"});
  if (status == 202)
    answer.fields.push_back({"Location", "/job/" + body.at("job_id").get<std::string>()});
  return answer;
}

void Judging::add_envelope(OrderedJson& body, const std::string& gpu) const {
  if (!body.contains("kernel_exec_result"))
    body["kernel_exec_result"] = {{"compiled", false},
                                  {"correctness", false},
                                  {"runtime", 0.0},
                                  {"metadata", OrderedJson::object()}};
  OrderedJson& metadata = body["kernel_exec_result"]["metadata"];
  add_gpu_id(metadata);
  if (!gpu.empty()) metadata["gpu_type"] = gpu;
  if (judgement_ == Judgement::comparison && !body.contains("ref_runtime"))
    body["ref_runtime"] = no_runtime();
  body["pod_name"] = machine_.name;
  body["pod_ip"] = machine_.address;
  if (!gpu.empty()) body["gpu_type"] = gpu;
}

}  // namespace assay::rest
