#include "tools/steps_report.h"

#include <algorithm>

#include "plans/optest/case_record.h"
#include "tools/job_resources.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using mcp::OrderedJson;
using nlohmann::json;

constexpr std::size_t kListedArtifacts = 40;
constexpr double kStagesBesideRuns = 3;  // received, planned, concluded

// A stage that occurs often stands once, with its count.
OrderedJson stages(const JobRecord& record, Detail detail) {
  OrderedJson list = OrderedJson::array();
  for (const auto& one : record.stages) {
    const bool repeats =
        detail == Detail::brief && !list.empty() && list.back().at("name") == one.name;
    if (repeats) {
      OrderedJson& last = list.back();
      last["ms"] = last.at("ms").get<double>() + one.elapsed_ms;
      last["count"] = last.value("count", 1) + 1;
      if (one.status == job::StageStatus::failed) last["status"] = job::name(one.status);
      continue;
    }
    OrderedJson item = {
        {"name", one.name}, {"status", job::name(one.status)}, {"ms", one.elapsed_ms}};
    if (detail == Detail::full && !one.body.empty()) item["body"] = one.body;
    list.push_back(std::move(item));
  }
  return list;
}

OrderedJson artifacts(const JobRecord& record, Detail detail) {
  OrderedJson list = OrderedJson::array();
  for (const auto& link : record.artifacts) {
    if (detail == Detail::brief && list.size() >= kListedArtifacts) break;
    list.push_back({{"name", link.name},
                    {"uri", artifact_uri(record.id, link.name)},
                    {"media_type", link.media_type},
                    {"bytes", link.bytes},
                    {"id", link.id}});
  }
  return list;
}

// What was done before the job ended, or has been done so far.
json partial(const JobRecord& record) {
  json cases = json::array();
  json told = json::object();
  for (const auto& one : record.stages) {
    if (record.kind == "plan" && one.name == "ran")
      cases.push_back(one.body);
    else if (!one.body.empty() && one.name != "planned")
      told[one.name].push_back(one.body);
  }
  if (record.kind == "plan") return {{"report", optest::report_of(cases)}};
  return told.empty() ? json::object() : json{{"so_far", told}};
}

}  // namespace

bool is_of_steps(const JobRecord& record) { return record.kind != "kernel"; }

OrderedJson steps_report(const JobRecord& record, Detail detail) {
  OrderedJson out;
  out["job_id"] = record.id;
  out["kind"] = record.kind;
  out["status"] = is_error(record) ? "error" : "success";
  out["state"] = job::name(record.state);
  out["verdict"] = record.verdict ? OrderedJson(job::name(*record.verdict)) : OrderedJson(nullptr);
  out["trust"] = nullptr;
  out["summary"] = record.conclusion.value("summary", std::string("Not finished yet."));
  out["stage"] =
      record.stages.empty() ? OrderedJson(nullptr) : OrderedJson(record.stages.back().name);
  if (is_error(record)) out["retryable"] = record.conclusion.value("retryable", true);
  json body = record.conclusion;
  if (!body.is_object() || body.size() <= 2) body.update(partial(record));
  body.erase("summary");
  for (const auto& [key, value] : body.items()) out[key] = value;
  if (!out.contains("warnings")) out["warnings"] = OrderedJson::array();
  for (const auto& warning : record.request.value("warnings", json::array())) {
    out["warnings"].push_back(OrderedJson(warning));
  }
  out["stages"] = stages(record, detail);
  out["artifacts"] = artifacts(record, detail);
  return out;
}

std::string steps_progress(const JobRecord& record) {
  if (record.stages.empty()) return "submitted";
  const job::StageRecord& last = record.stages.back();
  std::string text = last.name;
  for (const char* key : {"id", "phase", "summary"}) {
    const auto found = last.body.find(key);
    if (found != last.body.end() && found->is_string()) {
      text += " " + found->get<std::string>().substr(0, 200);
      break;
    }
  }
  const auto status = last.body.find("status");
  if (status != last.body.end() && status->is_string()) text += ": " + status->get<std::string>();
  return text;
}

std::optional<double> steps_total(const JobRecord& record) {
  for (auto stage = record.stages.rbegin(); stage != record.stages.rend(); ++stage) {
    const auto total = stage->body.find("total");
    if (total == stage->body.end() || !total->is_number()) continue;
    const double all = total->get<double>() + kStagesBesideRuns;
    return std::max(all, static_cast<double>(record.stages.size()));
  }
  return std::nullopt;
}

}  // namespace assay::tools
