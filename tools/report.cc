#include "tools/report.h"

#include <algorithm>
#include <ctime>

#include "tools/brief.h"
#include "tools/job_parts.h"
#include "tools/job_resources.h"
#include "tools/statistics.h"
#include "tools/steps_report.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using job::StageRecord;
using job::StageStatus;
using job::State;
using job::Verdict;
using mcp::OrderedJson;
using nlohmann::json;

const StageRecord* stage(const JobRecord& record, std::string_view name) {
  const auto found = std::find_if(record.stages.begin(), record.stages.end(),
                                  [&](const auto& one) { return one.name == name; });
  return found == record.stages.end() ? nullptr : &*found;
}

bool passed(const StageRecord* stage) {
  return stage != nullptr && stage->status == StageStatus::passed;
}

// Whose words are in a failed stage: the candidate's or the reference's.
bool is_about_reference(const JobRecord& record) {
  const auto detail = record.conclusion.find("detail");
  return detail != record.conclusion.end() && detail->is_object() &&
         detail->value("which", "") == "ref_kernel";
}

std::vector<double> samples(const json& body, const char* key) {
  std::vector<double> values;
  if (body.contains(key)) {
    for (const auto& sample : body.at(key)) values.push_back(sample.get<double>());
  }
  return values;
}

// Clients of the system before this one look for these words.
std::string compilation_prefix(const JobRecord& record) {
  if (record.verdict != Verdict::compile_failed) return {};
  const json kernel = record.request.value("kernel", json::object());
  return kernel.value("kernel_type", "cuda") == "cuda" ? "CUDA compilation failed: "
                                                       : "Compilation error:\n";
}

// Null if it compiled.
OrderedJson compilation_error(const JobRecord& record, const StageRecord& compiled) {
  if (!record.verdict || compiled.status == StageStatus::passed) return nullptr;
  const json detail = record.conclusion.value("detail", json::object());
  const std::string summary = record.conclusion.value("summary", std::string());
  return compilation_prefix(record) + detail.value("log", summary).substr(0, kFullLogBytes);
}

OrderedJson exec_result(const JobRecord& record) {
  const StageRecord* compiled = stage(record, "compiled");
  const StageRecord* validated = stage(record, "validated");
  const StageRecord* timed = stage(record, "timed");
  OrderedJson result;
  result["compiled"] = passed(compiled);
  result["correctness"] = passed(validated) && record.verdict == Verdict::passed;
  const OrderedJson stats = timed != nullptr ? runtime_stats_ms(samples(timed->body, "samples_ns"))
                                             : OrderedJson::object();
  result["runtime"] = stats.value("mean", 0.0);
  if (!stats.empty()) result["runtime_stats"] = stats;
  OrderedJson metadata = OrderedJson::object();
  if (timed != nullptr && timed->body.contains("clock")) {
    metadata["clock"] = timed->body.at("clock");
    metadata["note"] = timed->body.at("note");
  }
  if (const StageRecord* prepared = stage(record, "prepared");
      prepared != nullptr && prepared->body.contains("kernel")) {
    metadata["kernel_name"] = prepared->body.at("kernel");
    metadata["device"] = prepared->body.at("device");
    if (prepared->body.contains("resources")) {
      metadata["resources"] = prepared->body.at("resources");
    }
    const json reference = prepared->body.value("reference", json::object());
    if (reference.contains("resources")) metadata["ref_resources"] = reference.at("resources");
  }
  for (const char* key : {"configuration", "built"}) {
    if (compiled != nullptr && compiled->body.contains(key)) {
      metadata[key] = compiled->body.at(key);
    }
  }
  if (const StageRecord* profiled = stage(record, "profiled");
      profiled != nullptr && profiled->body.contains("device_metrics")) {
    metadata["device_metrics"] = profiled->body.at("device_metrics");
  }
  result["metadata"] = metadata;
  if (!record.verdict || record.verdict == Verdict::passed) return result;
  const std::string summary = record.conclusion.value("summary", std::string());
  if (compiled != nullptr && !passed(compiled)) {
    result["compilation_error"] = compilation_error(record, *compiled);
  } else if (compiled != nullptr) {
    result["validation_error"] = summary;
  }
  return result;
}

OrderedJson validation(const StageRecord& validated) {
  OrderedJson out = OrderedJson::object();
  for (const char* key : {"checked_against", "trials", "trials_passed", "outputs", "digests",
                          "counters", "checks", "configurations"}) {
    if (validated.body.contains(key)) out[key] = validated.body.at(key);
  }
  if (validated.body.value("printf", "") != "") {
    out["printf"] = validated.body.at("printf");
    out["printf_truncated"] = validated.body.value("printf_truncated", false);
  }
  return out;
}

OrderedJson stages(const JobRecord& record, Detail detail) {
  OrderedJson list = OrderedJson::array();
  for (const auto& one : record.stages) {
    OrderedJson item = {
        {"name", one.name}, {"status", job::name(one.status)}, {"ms", one.elapsed_ms}};
    if (detail == Detail::full && !one.body.empty()) item["body"] = one.body;
    if (one.status == StageStatus::skipped && one.body.contains("reason")) {
      item["reason"] = one.body.at("reason");
    }
    list.push_back(std::move(item));
  }
  return list;
}

// The manual's envelope: success whenever there is a report, whatever the verdict.
const char* status(const JobRecord& record) { return is_error(record) ? "error" : "success"; }

OrderedJson artifacts(const JobRecord& record) {
  OrderedJson list = OrderedJson::array();
  for (const auto& link : record.artifacts) {
    list.push_back({{"name", link.name},
                    {"uri", artifact_uri(record.id, link.name)},
                    {"media_type", link.media_type},
                    {"bytes", link.bytes},
                    {"id", link.id}});
  }
  // Made when they are read: they have no length yet.
  for (const std::string& part : job_parts(record))
    list.push_back({{"name", part},
                    {"uri", artifact_uri(record.id, part)},
                    {"media_type", media_type_of_part(part)}});
  return list;
}

// compile_kernel's question and its answer; every other report has the diagnostics only.
bool is_listing(const JobRecord& record) { return record.request.contains("listing"); }

void add_compilation(OrderedJson& out, const JobRecord& record) {
  const StageRecord* compiled = stage(record, "compiled");
  if (is_listing(record)) {
    out["compiled"] = passed(compiled);
    if (compiled != nullptr) out["compilation_error"] = compilation_error(record, *compiled);
    out["arch"] = record.request.at("listing").at("arch");
  }
  if (compiled == nullptr) return;
  const json detail = compiled->body.value("detail", json::object());
  const json& said = passed(compiled) ? compiled->body : detail;
  if (!is_listing(record)) {
    if (said.contains("diagnostics")) out["diagnostics"] = said.at("diagnostics");
    return;
  }
  out["diagnostics"] = json::array();
  for (const char* key :
       {"compiler", "compile_ms", "cached", "diagnostics", "diagnostics_truncated", "kernels",
        "kernels_truncated", "contract", "configuration"}) {
    if (said.contains(key)) out[key] = said.at(key);
  }
}

OrderedJson summary_of(const std::vector<double>& samples_ns) {
  const OrderedJson ms = runtime_stats_ms(samples_ns);
  OrderedJson out = {{"runs", samples_ns.size()}};
  for (const char* key : {"median", "min", "mean", "std", "percentile_95"}) {
    if (ms.contains(key)) out[std::string(key) + "_ns"] = ms.at(key).get<double>() * 1e6;
  }
  if (const auto interval = median_interval(samples_ns)) {
    out["median_low_ns"] = interval->first;
    out["median_high_ns"] = interval->second;
  }
  return out;
}

OrderedJson timing(const json& body) {
  OrderedJson out = {{"clock", body.value("clock", json(nullptr))},
                     {"runs", samples(body, "samples_ns").size()},
                     {"requested", body.value("trials_requested", json(nullptr))}};
  if (body.contains("note")) out["note"] = body.at("note");
  const std::string clock = body.value("clock", "");
  if (clock == "cpu" || clock == "wall") {
    out["per_call"] = summary_of(samples(body, "samples_ns"));
    if (body.contains("reference_samples_ns")) {
      out["reference"] = {{"per_call", summary_of(samples(body, "reference_samples_ns"))}};
    }
    for (const char* key : {"runs_examined", "calls_timed", "calls_per_turn", "speedup_note"}) {
      if (body.contains(key)) out[key] = body.at(key);
    }
  }
  if (body.value("clock", "") != "gpu") return out;
  out["cold"] = summary_of(samples(body, "samples_ns"));
  if (body.contains("cold_stop")) out["cold"].update(body.at("cold_stop"));
  const auto views = [&](const char* key, OrderedJson& into) {
    const auto found = body.find(key);
    if (found != body.end() && found->is_object()) into.update(*found);
  };
  views("views", out);
  if (body.contains("reference_samples_ns")) {
    out["reference"] = {{"cold", summary_of(samples(body, "reference_samples_ns"))}};
    views("reference_views", out["reference"]);
  }
  for (const char* key :
       {"event_overhead_ns", "runs_examined", "runs_examined_beside", "digests", "clocks", "floor",
        "wall_clock", "neighbours", "speedup_note", "lifted"}) {
    if (body.contains(key)) out[key] = body.at(key);
  }
  if (body.contains("in_place")) {
    out["in_place"] = timing(body.at("in_place"));
    if (body.at("in_place").contains("speedup")) {
      out["in_place"]["speedup"] = body.at("in_place").at("speedup");
    }
  }
  return out;
}

// What limits each kernel, in short; the values are in the metadata.
OrderedJson insight(const json& metrics) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [which, told] : metrics.items()) {
    OrderedJson one = OrderedJson::object();
    for (const char* key : {"limiter", "basis", "confidence", "facts", "suggestion", "launches",
                            "launch", "floor", "activity", "unavailable"}) {
      if (told.contains(key)) one[key] = told.at(key);
    }
    out[which == "custom_device_metrics" ? "kernel"
        : metrics.size() > 1             ? "ref_kernel"
                                         : "kernel"] = std::move(one);
  }
  return out;
}

// What clients of validate_kernel look for.
void add_old_validation(OrderedJson& out, const JobRecord& record) {
  const json options = record.request.value("options", json::object());
  if (options.value("until", "") != "validated") return;
  const OrderedJson result = out.at("kernel_exec_result");  // members move when one is added
  out["compiled"] = result.at("compiled");
  out["validated"] = result.at("correctness");
  const StageRecord* compiled = stage(record, "compiled");
  out["compilation_time"] =
      compiled != nullptr ? OrderedJson(compiled->elapsed_ms) : OrderedJson(nullptr);
  for (const char* key : {"compilation_error", "validation_error"})
    out[key] = result.value(key, OrderedJson());
  out["metadata"] = result.at("metadata");
}

void add_evaluation(OrderedJson& out, const JobRecord& record) {
  out["kernel_exec_result"] = exec_result(record);
  add_old_validation(out, record);
  if (const StageRecord* timed = stage(record, "timed"); timed != nullptr) {
    const OrderedJson reference = runtime_stats_ms(samples(timed->body, "reference_samples_ns"));
    if (!reference.empty()) out["ref_runtime"] = reference;
    out["timing"] = timing(timed->body);
    // Emulated times rank nothing.
    if (!reference.empty()) out["speedup"] = timed->body.value("speedup", json(nullptr));
  }
  // Of a GPU the short form: the values are in the metadata. The emulator's counts have no other
  // place.
  if (const StageRecord* profiled = stage(record, "profiled"); passed(profiled)) {
    const auto counted = profiled->body.find("device_metrics");
    if (counted != profiled->body.end()) {
      out["device_metrics"] = insight(*counted);
    } else {
      out["device_metrics"] = profiled->body;
    }
  }
  if (const StageRecord* validated = stage(record, "validated"); validated != nullptr) {
    out["validation"] = validation(*validated);
  }
  // Of a Python source what it launches is looked at, which is known once it is timed.
  if (const StageRecord* timed = stage(record, "timed");
      timed != nullptr && timed->body.contains("checks")) {
    out["validation"]["checks"] = timed->body.at("checks");
  }
  if (const StageRecord* hidden = stage(record, "generalised"); hidden != nullptr) {
    out["generalisation"] = hidden->body;
  }
}

void add_failure(OrderedJson& out, const JobRecord& record) {
  const auto detail = record.conclusion.find("detail");
  if (detail == record.conclusion.end() || detail->empty()) return;
  OrderedJson error = *detail;
  error.erase("log");  // stands in compilation_error, whole in the artifact
  for (const char* key : {"diagnostics", "diagnostics_truncated"}) error.erase(key);
  out["error"] = std::move(error);
}

// What speaks against a kernel first, then what its trust rests on: a brief report has room for
// few.
int rank(const json& item) {
  if (item.value("result", "") == "disagrees") return 0;
  if (item.value("check", "") == "lifted") return 1;
  return item.value("result", "") == "agrees" ? 3 : 2;
}

json evidence(const JobRecord& record) {
  json told = record.conclusion.value("evidence", json::array());
  std::stable_sort(told.begin(), told.end(),
                   [](const json& a, const json& b) { return rank(a) < rank(b); });
  return told;
}

}  // namespace

bool is_error(const JobRecord& record) {
  return record.state == State::interrupted || record.verdict == Verdict::engine_fault;
}

OrderedJson report(const JobRecord& record, Detail detail) {
  if (is_of_steps(record)) return steps_report(record, detail);
  OrderedJson out;
  out["job_id"] = record.id;
  out["status"] = status(record);
  out["state"] = job::name(record.state);
  out["verdict"] = record.verdict ? OrderedJson(job::name(*record.verdict)) : OrderedJson(nullptr);
  out["trust"] = record.conclusion.value("trust", json(nullptr));
  out["summary"] = record.conclusion.value("summary", std::string("Not finished yet."));
  out["stage"] =
      record.stages.empty() ? OrderedJson(nullptr) : OrderedJson(record.stages.back().name);
  if (is_error(record)) out["retryable"] = record.conclusion.value("retryable", true);
  if (is_about_reference(record)) out["about"] = "ref_kernel";
  if (!is_listing(record)) add_evaluation(out, record);
  add_compilation(out, record);
  add_failure(out, record);
  if (!is_listing(record)) out["evidence"] = evidence(record);
  out["warnings"] = record.conclusion.value("warnings", json::array());
  // What the arguments gave rise to was known before anything ran.
  for (const auto& warning : record.request.value("warnings", json::array())) {
    out["warnings"].push_back(OrderedJson(warning));
  }
  out["stages"] = stages(record, detail);
  if (record.conclusion.contains("environment")) {
    out["environment"] = record.conclusion.at("environment");
  }
  out["artifacts"] = artifacts(record);
  if (detail == Detail::brief) make_brief(out);
  return out;
}

std::string iso_time(std::int64_t unix_ns) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

OrderedJson job_line(const JobRecord& record) {
  OrderedJson line;
  line["job_id"] = record.id;
  line["kind"] = record.kind;
  line["state"] = job::name(record.state);
  line["verdict"] = record.verdict ? OrderedJson(job::name(*record.verdict)) : OrderedJson(nullptr);
  line["created"] = iso_time(record.created_ns);
  line["summary"] = record.conclusion.value("summary", std::string());
  return line;
}

}  // namespace assay::tools
