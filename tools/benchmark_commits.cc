// benchmark_commits: base, head and main of a repository's commits, each in an environment of its
// own, one data set record per commit.
#include "plans/commits/commit_job.h"
#include "tools/refusal.h"
#include "tools/requirements_argument.h"
#include "tools/schemas.h"
#include "tools/step_job.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

namespace fs = std::filesystem;
using mcp::CallContext;
using mcp::Json;
using mcp::ToolResult;

// The file is still to be made: its folder must be below a root.
void take_dataset(const Json& arguments, const Library* library, nlohmann::json& request,
                  std::vector<contract::Violation>& violations) {
  if (!arguments.contains("dataset_path")) return;
  const fs::path path = arguments.at("dataset_path").get<std::string>();
  const std::string parent = path.parent_path().empty() ? "." : path.parent_path().string();
  const auto folder = located(library, parent, "/dataset_path", violations);
  if (folder) request["dataset_path"] = (*folder / path.filename()).string();
}

ToolResult run(Jobs& jobs, const Library* library, Commands commands, const Json& arguments,
               CallContext& context) {
  std::vector<contract::Violation> violations;
  nlohmann::json request;
  for (const char* key : {"repo", "script", "generators_dir", "extraction", "extractions_dir",
                          "config", "dockerfile", "patch"}) {
    if (!arguments.contains(key)) continue;
    const auto path =
        located(library, arguments.at(key).get<std::string>(), std::string("/") + key, violations);
    if (path) request[key] = path->string();
  }
  take_dataset(arguments, library, request, violations);
  if (!arguments.contains("repo") && !arguments.contains("config")) {
    violations.push_back({"/repo", "is needed, unless a config names it"});
  }
  check_requirements(arguments.value("requires", nlohmann::json::object()), violations);
  if (!violations.empty()) return refuse(violations);
  if (auto refused = refuse_commands(commands)) return std::move(*refused);
  copy_members(arguments,
               {"head", "base", "main", "environment", "image", "engine", "python",
                "setup_commands", "install_commands", "dependencies", "env", "repeats", "timeout",
                "install_timeout", "return_unit", "eq_level", "requires"},
               request);
  return make_step_job(jobs, commits::commits_kind(), std::move(request), arguments, context);
}

}  // namespace

mcp::Tool benchmark_commits(Jobs& jobs, const Library* library, Commands commands) {
  return {
      .name = "benchmark_commits",
      .title = "Benchmark commits",
      .description =
          "Runs a commit's performance test generator on base (its parent), head and main, each "
          "in a checkout and environment of its own: a reference is made on base, head must be "
          "equivalent to it, then all sides run interleaved. Returns times, a ratio with its "
          "interval, whose fault a failure is, the command to repeat it, and a data set record.",
      .annotations = {.read_only = false,
                      .destructive = false,
                      .idempotent = false,
                      .open_world = true},
      .input_schema = schema("benchmark_commits.input.json"),
      .output_schema = schema("steps_report.json"),
      .run = [&jobs, library, commands](const Json& arguments, CallContext& context) {
        return run(jobs, library, commands, arguments, context);
      }};
}

}  // namespace assay::tools
