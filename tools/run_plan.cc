// run_plan: operator test plans: run them, list what would run, or check them without running.
#include "plans/optest/plan.h"
#include "plans/optest/plan_job.h"
#include "plans/optest/selection.h"
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

struct PlanText {
  std::string text{};
  std::string file = "plan";
  std::filesystem::path folder{};
};

std::optional<PlanText> read_plan(const Json& arguments, const Library* library,
                                  std::vector<contract::Violation>& violations) {
  PlanText plan;
  if (arguments.contains("plan_path") == arguments.contains("plan")) {
    violations.push_back({"", "give either plan_path or plan"});
    return std::nullopt;
  }
  if (arguments.contains("plan")) {
    plan.text = arguments.at("plan").get<std::string>();
    const auto folder = located(library, arguments.value("folder", "."), "/folder", violations);
    if (!folder) return std::nullopt;
    plan.folder = *folder;
    return plan;
  }
  plan.file = arguments.at("plan_path").get<std::string>();
  const auto path = located(library, plan.file, "/plan_path", violations);
  if (!path) return std::nullopt;
  auto text = library->files.read(plan.file);
  if (const auto* none = std::get_if<NoSourceFile>(&text)) {
    violations.push_back({"/plan_path", plan.file + " " + none->reason});
    return std::nullopt;
  }
  plan.text = std::get<std::string>(std::move(text));
  plan.folder = path->parent_path();
  return plan;
}

// What the YAML alone decides, without a job.
ToolResult look_only(const PlanText& plan, const Json& choice_document) {
  const optest::Loaded loaded = optest::load_plan(plan.text, plan.folder);
  ToolResult result;
  OrderedJson& out = result.structured;
  out["status"] = "success";
  out["state"] = "completed";
  out["verdict"] = loaded.plan ? "passed" : "contract_invalid";
  out["problems"] = optest::problems_json(loaded.problems);
  out["runs"] = OrderedJson::array();
  std::string text;
  for (const auto& problem : loaded.problems) text += optest::to_text(problem, plan.file) + "\n";
  if (!loaded.plan) {
    out["summary"] = "The plan is not valid.";
    result.text = "The plan is not valid.\n" + text;
    return result;
  }
  const auto choice = optest::choice_from(choice_document);
  const auto runs = optest::select_runs(*loaded.plan, choice);
  for (const auto& run : runs) {
    out["runs"].push_back({{"id", run.id}, {"xfail", run.xfail}});
    text += run.id + (run.xfail ? " (xfail)" : "") + "\n";
  }
  out["summary"] = runs.empty() ? optest::nothing_selected(*loaded.plan, choice)
                                : std::to_string(runs.size()) + " runs; none was started.";
  result.text = text + out["summary"].get<std::string>();
  return result;
}

ToolResult run(Jobs& jobs, const Library* library, Commands commands, const Json& arguments,
               CallContext& context) {
  std::vector<contract::Violation> violations;
  const auto plan = read_plan(arguments, library, violations);
  if (!plan) return refuse(violations);
  nlohmann::json choice = nlohmann::json::object();
  copy_members(arguments, {"backend", "chip", "cases", "tags", "skip_tags", "priority_max"},
               choice);
  if (arguments.value("mode", "run") != "run") return look_only(*plan, choice);
  if (auto refused = refuse_commands(commands)) return std::move(*refused);
  nlohmann::json request = {{"plan", plan->text},
                            {"file", plan->file},
                            {"is_file", arguments.contains("plan_path")},
                            {"folder", plan->folder.string()},
                            {"choice", std::move(choice)}};
  copy_members(arguments, {"cache", "stop_on_first", "python", "isolation"}, request);
  return make_step_job(jobs, optest::plan_kind(), std::move(request), arguments, context);
}

}  // namespace

mcp::Tool run_plan(Jobs& jobs, const Library* library, Commands commands) {
  return {
      .name = "run_plan",
      .title = "Run an operator test plan",
      .description =
          "Runs an operator test plan (YAML: inputs, generator, assertion, backends, cases): "
          "makes the inputs, runs each backend's command, compares its output files with a "
          "golden computed here. Returns per case: status, where it is wrong, argv, attempts, a "
          "repro line. mode: list shows the runs, validate checks the plan; neither runs "
          "anything. A backend of type assay judges a kernel without any runner program.",
      .annotations = {.read_only = false,
                      .destructive = true,
                      .idempotent = false,
                      .open_world = true},
      .input_schema = schema("run_plan.input.json"),
      .output_schema = schema("steps_report.json"),
      .run = [&jobs, library, commands](const Json& arguments, CallContext& context) {
        return run(jobs, library, commands, arguments, context);
      }};
}

}  // namespace assay::tools
