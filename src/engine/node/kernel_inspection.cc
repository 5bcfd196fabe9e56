#include "engine/node/kernel_inspection.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "engine/node/division_places.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kInspectionLimit{30};
constexpr std::chrono::seconds kInspectionLeast{1};

// Peaks of the GPU that a roofline is drawn for (its data sheet: FP32 without tensor cores, HBM3e).
constexpr const char* kRooflineGpu = "NVIDIA H200";
constexpr double kPeakFlops = 66.9e12;
constexpr double kPeakBytesPerSecond = 4.8e12;

std::variant<Inspected, Ended> inspect(const InspectionRun& run, std::vector<std::string> what) {
  return inspect(run.referee, run.kernel, {std::move(what), run.task.check_blocks},
                 run.execution_left);
}

// What every run on the emulator tells of accesses to memory.
struct Accesses {
  json findings = json::array();
  bool faulted = false;  // the launch ended there
};

// A GPU has no more to say of an access than that it was none.
Accesses emulated_accesses(const InspectionRun& run) {
  auto arena = run.referee.fill(0);
  if (auto* ended = std::get_if<Ended>(&arena)) throw std::runtime_error(ended->summary);
  std::chrono::nanoseconds limit = kInspectionLimit;
  auto ran = run.kernel.run(std::move(std::get<LentArena>(arena)), limit);
  const auto* ended = std::get_if<Ended>(&ran);
  if (ended == nullptr) return {.findings = std::get<Ran>(ran).strays};
  const json fault = ended->detail.value("fault", json::object());
  json item = fault;
  item["kind"] = ended->verdict == job::Verdict::crashed ? "invalid_access"
                                                         : ended->detail.value("ending", "");
  item["severity"] = "error";
  item["message"] = fault.value("message", ended->summary);
  if (!item.contains("where")) item["where"] = {{"line", 0}};
  return {.findings = json::array({std::move(item)}), .faulted = true};
}

// Which side of the ridge a kernel is on whatever its caches do, if that can be said.
const char* bound_of(double flops, double requested, double unique) {
  if (requested == 0) return "compute";
  const double ridge = kPeakFlops / kPeakBytesPerSecond;
  if (unique > 0 && flops / unique < ridge) return "memory";
  if (flops / requested > ridge) return "compute";
  return "undetermined";
}

json estimate_of(const json& profile) {
  const auto flops = profile.at("flops").get<double>();
  const auto requested = profile.at("global_bytes_requested").get<double>();
  const auto unique = profile.at("global_bytes_unique").get<double>();
  // Memory moves whole sectors: what threads ask for may be less than the sectors it lies in.
  const double uncached = std::max(requested, unique);
  json e = {{"gpu", kRooflineGpu},
            {"flops", flops},
            {"global_bytes_requested", requested},
            {"global_bytes_unique", unique},
            {"bound", bound_of(flops, uncached, unique)},
            {"ridge_flops_per_byte", kPeakFlops / kPeakBytesPerSecond},
            {"note",
             "Arithmetic intensity lies between `low` (no cache) and `high` (every byte fetched "
             "once). A bound, not a time."}};
  e["arithmetic_intensity"] = {{"low", uncached > 0 ? json(flops / uncached) : json(nullptr)},
                               {"high", unique > 0 ? json(flops / unique) : json(nullptr)}};
  return e;
}

}  // namespace

std::chrono::nanoseconds inspection_time(std::chrono::nanoseconds execution_left) {
  return std::clamp<std::chrono::nanoseconds>(execution_left, kInspectionLeast, kInspectionLimit);
}

std::variant<Inspected, Ended> inspect(RefereeSession& referee, KernelSession& kernel,
                                       const InspectionOrder& order,
                                       std::chrono::nanoseconds& execution_left) {
  auto arena = referee.fill(0);
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  std::chrono::nanoseconds limit = inspection_time(execution_left);
  const std::chrono::nanoseconds given = limit;
  auto said = kernel.inspect(order, std::move(std::get<LentArena>(arena)), limit);
  execution_left -= given - limit;
  return said;
}

json run_checks(const InspectionRun& run) {
  json out = {{"ran", false}, {"checks", run.task.checks}, {"findings", json::array()}};
  std::vector<std::string> what;
  for (const std::string& check : run.task.checks) {
    if (check != "memory" || run.has_neighbours) what.push_back(check);  // else never off
  }
  Accesses seen = run.on_gpu ? emulated_accesses(run) : Accesses{.findings = run.strays};
  if (what.empty() || seen.faulted) {
    out["ran"] = true;
    out["findings"] = std::move(seen.findings);
    out["notes"] = json::array({run.on_gpu ? "The emulator checked every access to memory."
                                           : "Accesses to memory were checked in every run."});
    return out;
  }
  auto answer = inspect(run, what);
  if (auto* ended = std::get_if<Ended>(&answer)) {
    out["notes"] = json::array({"The inspection did not come to its end: " + ended->summary});
    return out;
  }
  auto& said = std::get<Inspected>(answer);
  out["ran"] = true;
  out["findings"] = std::move(said.findings);
  if (run.task.kernel.kernel_type == "cuda") {
    place_divisions(out["findings"], run.task.kernel.source);
  }
  out["notes"] = std::move(said.notes);
  out["blocks"] = {{"checked", said.checked_blocks}, {"of", said.blocks}};
  if (said.ending != "completed") {
    out["notes"].push_back("The launch ended early (" + said.ending + "): " + said.message +
                           ". Findings are those until then.");
  }
  return out;
}

json count_metrics(const InspectionRun& run) {
  auto answer = inspect(run, {"counters"});
  if (auto* ended = std::get_if<Ended>(&answer)) return {{"reason", ended->summary}};
  auto& said = std::get<Inspected>(answer);
  if (said.ending != "completed" || !said.profile.is_object()) {
    return {{"reason", "The launch ended early (" + said.ending + "): " + said.message}};
  }
  json out = {
      {"source", "emulated"},
      {"approximate", true},
      {"note",
       "Counted on PTX, deterministic. Machine code has other instructions, and may merge or "
       "split accesses. None is a time."},
      {"metrics", json::object()}};
  for (const auto& metric : said.profile.at("metrics")) {
    out["metrics"][metric.at("name").get<std::string>()] = metric.at("value");
  }
  out["estimate"] = estimate_of(said.profile);
  const auto& sections = run.task.metrics_sections;
  if (std::find(sections.begin(), sections.end(), "access_pattern_metrics") != sections.end()) {
    out["lines"] = said.profile.at("lines");
  }
  return out;
}

std::string findings_sentence(const json& checks) {
  const json& findings = checks.at("findings");
  const auto errors = std::count_if(findings.begin(), findings.end(),
                                    [](const json& f) { return f.at("severity") == "error"; });
  if (findings.empty()) return {};
  const json& first = findings.front();
  std::string text = "Checks found " + std::to_string(errors) + " error" +
                     (errors == 1 ? "" : "s") + " and " +
                     std::to_string(static_cast<std::ptrdiff_t>(findings.size()) - errors) +
                     " warnings; first, " + first.at("kind").get<std::string>();
  if (const int line = first.at("where").at("line"); line > 0) {
    text += " at line " + std::to_string(line);
  }
  return text + ": " + first.at("message").get<std::string>() + ".";
}

}  // namespace assay::node
