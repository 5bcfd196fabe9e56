#include "tools/job_parts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/json.h"
#include "tools/histogram.h"
#include "tools/roofline.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using mcp::OrderedJson;
using nlohmann::json;

constexpr std::array<std::string_view, 5> kParts{"source", "ref_source", "samples", "plot.svg",
                                                 "roofline.svg"};

auto stage_of(const JobRecord& record, std::string_view name) {
  return std::find_if(record.stages.begin(), record.stages.end(),
                      [&](const job::StageRecord& stage) { return stage.name == name; });
}

std::optional<Roofline> roofline(const JobRecord& record) {
  const auto profiled = stage_of(record, "profiled");
  return profiled == record.stages.end() ? std::nullopt : roofline_of(profiled->body);
}

const json* timed_body(const JobRecord& record) {
  const auto timed = stage_of(record, "timed");
  const bool has_samples = timed != record.stages.end() && timed->body.contains("samples_ns") &&
                           timed->body.at("samples_ns").is_array() &&
                           !timed->body.at("samples_ns").empty();
  return has_samples ? &timed->body : nullptr;
}

std::vector<double> samples(const json& body, const char* key) {
  std::vector<double> values;
  if (const auto found = body.find(key); found != body.end() && found->is_array())
    for (const auto& one : *found) values.push_back(one.get<double>());
  return values;
}

std::optional<std::string> source(const JobRecord& record, const char* argument) {
  const auto kernel = record.request.find(argument);
  if (kernel == record.request.end() || !kernel->is_object()) return std::nullopt;
  const auto text = kernel->find("source");
  if (text == kernel->end() || !text->is_string()) return std::nullopt;
  return text->get<std::string>();
}

std::string samples_text(const json& body) {
  const OrderedJson told = {
      {"clock", body.value("clock", json(nullptr))},
      {"note", body.value("note", json(nullptr))},
      {"samples_ns", body.at("samples_ns")},
      {"reference_samples_ns", body.value("reference_samples_ns", json::array())}};
  return told.dump();
}

std::string plot(const json& body) {
  const bool is_gpu = body.value("clock", "") == "gpu";
  return histogram_svg(
      {.title = is_gpu ? "GPU time of each timed run, cold L2"
                       : "Time of each run on the emulator: not GPU times",
       .series = {{.name = "kernel", .samples_ns = samples(body, "samples_ns")},
                  {.name = "reference", .samples_ns = samples(body, "reference_samples_ns")}}});
}

}  // namespace

std::optional<mcp::ResourceContents> job_part(const JobRecord& record, const std::string& name) {
  std::optional<std::string> text;
  if (name == "source") text = source(record, "kernel");
  if (name == "ref_source") text = source(record, "ref_kernel");
  if (const json* timed = timed_body(record); timed != nullptr) {
    if (name == "samples") text = samples_text(*timed);
    if (name == "plot.svg") text = plot(*timed);
  }
  if (name == "roofline.svg") {
    if (const auto found = roofline(record)) text = roofline_svg(*found);
  }
  if (!text) return std::nullopt;
  return mcp::ResourceContents{.mime_type = media_type_of_part(name), .bytes = std::move(*text)};
}

std::vector<std::string> job_parts(const JobRecord& record) {
  std::vector<std::string> names;
  for (const std::string_view name : kParts) {
    bool there = false;
    if (name == "roofline.svg") {
      there = roofline(record).has_value();
    } else if (name == "samples" || name == "plot.svg") {
      there = timed_body(record) != nullptr;
    } else {
      there = source(record, name == "source" ? "kernel" : "ref_kernel").has_value();
    }
    if (there) names.emplace_back(name);
  }
  return names;
}

std::string media_type_of_part(const std::string& name) {
  if (name == "samples") return "application/json";
  return name.ends_with(".svg") ? "image/svg+xml" : "text/plain";
}

}  // namespace assay::tools
