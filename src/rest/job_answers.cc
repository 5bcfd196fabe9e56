#include "rest/job_answers.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "tools/job_resources.h"
#include "tools/report.h"

namespace assay::rest {
namespace {

using mcp::OrderedJson;
using mcp::http::Visit;

constexpr std::size_t kDefaultJobs = 20;
constexpr std::size_t kMaxJobs = 200;

// `status` is the state here, as the manual's clients poll for it; the envelope's is in `result`.
OrderedJson describe(const job::JobRecord& record, tools::Detail detail) {
  OrderedJson body = {{"job_id", record.id},
                      {"status", job::name(record.state)},
                      {"created_at", tools::iso_time(record.created_ns)},
                      {"updated_at", tools::iso_time(record.updated_ns)},
                      {"error", nullptr}};
  body["result"] = tools::report(record, detail);
  if (tools::is_error(record)) body["error"] = body.at("result").at("summary");
  return body;
}

HttpAnswer part_answer(tools::Jobs& jobs, const std::string& job_id, const std::string& part,
                       const Visit& visit) {
  const auto resources = tools::job_resources(jobs);
  std::string uri = tools::artifact_uri(job_id, part);
  if (!visit.request.query.empty()) uri += '?' + visit.request.query;
  const mcp::CallContext context{
      .stop = visit.stop, .principal = visit.principal, .step_aside = visit.step_aside};
  std::optional<mcp::ResourceContents> contents;
  try {
    contents = resources.read(uri, context);
  } catch (const tools::BadRange& bad) {
    return broken_rule("/" + bad.field, bad.what());
  } catch (const mcp::BadRequest& missing) {
    return not_found(Missing::part, missing.what());
  }
  if (!contents) return not_found(Missing::part, "Job " + job_id + " has no " + part);
  std::string type = contents->mime_type;
  if (!contents->binary) type += "; charset=utf-8";
  HttpAnswer answer = text_answer(type, std::move(contents->bytes));
  // Opened by itself, a picture is a page: nothing in it may run.
  answer.fields.push_back(
      {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"});
  return answer;
}

}  // namespace

HttpAnswer job_answer(tools::Jobs& jobs, const std::string& rest, const Visit& visit) {
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string job_id = rest.substr(0, slash);
  const std::string part = rest.substr(std::min(slash + 1, rest.size()));
  const auto record = jobs.find(job_id, visit.principal);
  if (!record) return no_such_job(job_id);
  if (!part.empty()) return part_answer(jobs, job_id, part, visit);
  const std::string detail = visit.request.parameter("detail").value_or("full");
  if (detail != "full" && detail != "short")
    return broken_rule("/detail", "detail must be full or short");
  return json_answer(
      200, describe(*record, detail == "full" ? tools::Detail::full : tools::Detail::brief));
}

HttpAnswer recent_jobs(tools::Jobs& jobs, const Visit& visit) {
  std::size_t limit = kDefaultJobs;
  if (const auto text = visit.request.parameter("limit")) {
    const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), limit);
    const bool whole = fault == std::errc() && end == text->data() + text->size();
    if (!whole || limit < 1 || limit > kMaxJobs)
      return broken_rule("/limit", "limit must be a number from 1 to 200");
  }
  OrderedJson lines = OrderedJson::array();
  for (const auto& record : jobs.recent(visit.principal, limit))
    lines.push_back(tools::job_line(record));
  return json_answer(200, {{"jobs", std::move(lines)}});
}

}  // namespace assay::rest
