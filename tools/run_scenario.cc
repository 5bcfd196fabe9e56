// run_scenario: is an environment really built from nothing, compiled exactly once, and does it
// work? Runs it, reads what would build it, or reads the log of a build that has run.
#include "plans/scenarios/audit.h"
#include "plans/scenarios/criteria.h"
#include "plans/scenarios/scenario_job.h"
#include "tools/refusal.h"
#include "tools/schemas.h"
#include "tools/step_job.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;
using nlohmann::json;

json read_request(const Json& arguments, const Library* library,
                  std::vector<contract::Violation>& violations) {
  json request = json::object();
  for (const char* key : {"workspace", "dockerfile", "devcontainer", "post_create"}) {
    if (!arguments.contains(key)) continue;
    const auto path =
        located(library, arguments.at(key).get<std::string>(), std::string("/") + key, violations);
    if (path) request[key] = path->string();
  }
  std::size_t index = 0;
  for (const auto& script : arguments.value("scripts", Json::array())) {
    const auto path = located(library, script.get<std::string>(),
                              "/scripts/" + std::to_string(index++), violations);
    if (path) request["scripts"].push_back(path->string());
  }
  copy_members(arguments,
               {"verify", "compile", "forbid", "remove_images", "engine", "timeout", "name",
                "build_options", "run_options"},
               request);
  return request;
}

ToolResult answer_of(const json& result, bool ok, const std::string& summary) {
  ToolResult answer;
  answer.structured = {{"status", "success"},
                       {"state", "completed"},
                       {"verdict", ok ? "passed" : "failed"},
                       {"summary", summary},
                       {"result", result}};
  answer.text = std::string(ok ? "passed" : "failed") + "\n" + summary;
  return answer;
}

ToolResult audit(const json& request) {
  const json seen = scenarios::static_audit(request);
  if (seen.at("files").empty() && seen.at("findings").empty()) {
    return refuse("", "give dockerfile, devcontainer, post_create or scripts to audit");
  }
  std::string summary;
  for (const auto& one : seen.at("violations")) {
    summary += one.at("place").get<std::string>() + ": " + one.at("kind").get<std::string>() +
               ": " + one.at("message").get<std::string>() + "\n";
  }
  const bool ok = seen.at("violations").empty();
  if (ok)
    summary =
        "No cache, no builder image, " + seen.at("compiles_declared").dump() + " compile declared.";
  return answer_of({{"criteria", scenarios::criteria_of_files(seen)}, {"audit", seen}}, ok,
                   summary);
}

ToolResult audit_log(const Json& arguments, const json& request, const Library* library) {
  std::string text = arguments.value("log", "");
  if (arguments.contains("log_path")) {
    if (library == nullptr) return refuse("/log_path", "this server reads no files");
    auto read = library->files.read(arguments.at("log_path").get<std::string>());
    if (const auto* none = std::get_if<NoSourceFile>(&read))
      return refuse("/log_path", none->reason);
    text = std::get<std::string>(std::move(read));
  }
  if (text.empty()) return refuse("", "give log or log_path");
  const auto seen = scenarios::audit_log(text, arguments.value("log_path", "log"),
                                         scenarios::subject_from(request));
  std::vector<scenarios::Finding> violations;
  for (const auto& one : seen.findings) {
    if (scenarios::is_violation(one)) violations.push_back(one);
  }
  json timed = json::array();
  for (const auto& [command, seconds] : seen.timed)
    timed.push_back({{"command", command}, {"real_s", seconds}});
  std::string summary = std::to_string(seen.compiles) + " compiles, " +
                        std::to_string(violations.size()) + " uses of caches or builder images.";
  for (const auto& one : violations)
    summary += "\n" + one.file + ":" + std::to_string(one.line) + ": " + one.message;
  const bool ok = seen.compiles == 1 && violations.empty();
  return answer_of({{"criteria", scenarios::criteria_of_log(seen)},
                    {"compile_count", seen.compiles},
                    {"cache_violations", scenarios::to_json(violations)},
                    {"findings", scenarios::to_json(seen.findings)},
                    {"timed", std::move(timed)},
                    {"commands_echoed", seen.has_echoes},
                    {"timestamps", seen.has_timestamps},
                    {"outcome", seen.outcome}},
                   ok, summary);
}

ToolResult run(Jobs& jobs, const Library* library, Commands commands, const Json& arguments,
               CallContext& context) {
  std::vector<contract::Violation> violations;
  json request = read_request(arguments, library, violations);
  if (!violations.empty()) return refuse(violations);
  try {
    (void)scenarios::subject_from(request);
    const std::string mode = arguments.value("mode", "run");
    if (mode == "audit") return audit(request);
    if (mode == "audit_log") return audit_log(arguments, request, library);
  } catch (const std::invalid_argument& error) {
    return refuse("/compile", error.what());
  }
  if (!request.contains("workspace")) return refuse("/workspace", "is needed to run a scenario");
  if (auto refused = refuse_commands(commands)) return std::move(*refused);
  return make_step_job(jobs, scenarios::scenario_kind(), std::move(request), arguments, context);
}

}  // namespace

mcp::Tool run_scenario(Jobs& jobs, const Library* library, Commands commands) {
  return {
      .name = "run_scenario",
      .title = "Run or audit a build scenario",
      .description =
          "Did a development environment really build without caches and compile exactly once? "
          "mode run: builds it (docker, podman, devcontainer, or on the host in a clean folder), "
          "runs its post-create script and a verification, and judges each acceptance criterion. "
          "audit: reads Dockerfile, devcontainer.json and scripts and names file:line of every "
          "cache, builder image and second compile. audit_log: reads the log of a build.",
      .annotations = {.read_only = false,
                      .destructive = true,
                      .idempotent = false,
                      .open_world = true},
      .input_schema = schema("run_scenario.input.json"),
      .output_schema = schema("steps_report.json"),
      .run = [&jobs, library, commands](const Json& arguments, CallContext& context) {
        return run(jobs, library, commands, arguments, context);
      }};
}

}  // namespace assay::tools
