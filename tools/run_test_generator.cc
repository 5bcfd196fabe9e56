// run_test_generator: performance test generators, one or a folder of them; or a look at one
// without running it.
#include <algorithm>

#include "plans/generators/generator_job.h"
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

constexpr std::size_t kMaxScripts = 500;

// In the order of their names.
std::vector<std::string> scripts_in(const fs::path& folder) {
  std::vector<std::string> scripts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".py" && entry.is_regular_file(error))
      scripts.push_back(entry.path().string());
  }
  std::sort(scripts.begin(), scripts.end());
  return scripts;
}

std::vector<std::string> read_scripts(const Json& arguments, const Library* library,
                                      std::vector<contract::Violation>& violations) {
  const bool one = arguments.contains("script");
  if (one == arguments.contains("folder")) {
    violations.push_back({"", "give either script or folder"});
    return {};
  }
  const char* key = one ? "script" : "folder";
  const std::string pointer = std::string("/") + key;
  const auto path = located(library, arguments.at(key).get<std::string>(), pointer, violations);
  if (!path) return {};
  std::error_code error;
  if (one) {
    if (!fs::is_regular_file(*path, error)) violations.push_back({pointer, "is no file"});
    return {path->string()};
  }
  auto scripts = scripts_in(*path);
  if (scripts.empty()) violations.push_back({pointer, "holds no .py file"});
  if (scripts.size() > kMaxScripts) {
    violations.push_back({pointer, "holds " + std::to_string(scripts.size()) +
                                       " scripts, at most " + std::to_string(kMaxScripts) +
                                       " are taken at once"});
  }
  return scripts;
}

ToolResult run(Jobs& jobs, const Library* library, Commands commands, const Json& arguments,
               CallContext& context) {
  std::vector<contract::Violation> violations;
  nlohmann::json request;
  request["scripts"] = read_scripts(arguments, library, violations);
  if (arguments.contains("workdir")) {
    const auto workdir =
        located(library, arguments.at("workdir").get<std::string>(), "/workdir", violations);
    if (workdir) request["workdir"] = workdir->string();
  }
  check_requirements(arguments.value("requires", nlohmann::json::object()), violations);
  if (!violations.empty()) return refuse(violations);
  if (auto refused = refuse_commands(commands)) return std::move(*refused);
  copy_members(arguments,
               {"eqcheck", "reference", "prefix", "python", "env", "impl_tag", "commit_hash",
                "eq_level", "device", "dtype", "opt_gates", "module", "symbol", "requires",
                "timeout", "repeats", "return_unit", "isolation"},
               request);
  request["inspect_only"] = arguments.value("mode", "run") == "inspect";
  return make_step_job(jobs, generators::generator_kind(), std::move(request), arguments, context);
}

}  // namespace

mcp::Tool run_test_generator(Jobs& jobs, const Library* library, Commands commands) {
  return {
      .name = "run_test_generator",
      .title = "Run a performance test generator",
      .description =
          "Runs a Python performance test generator (setup, experiment, store_result, "
          "load_result, check_equivalence, run_test), with a harness where it has no main "
          "block. Returns status (ok or one of the taxonomy: IMPORT_MISSING, "
          "CAPABILITY_UNSUPPORTED, EQUIVALENCE_FAILED, …), the time in ms and why it is ms, and "
          "whether equivalence was requested, performed and passed. mode: inspect looks without "
          "running. A folder runs as a batch.",
      .annotations = {.read_only = false,
                      .destructive = false,
                      .idempotent = false,
                      .open_world = true},
      .input_schema = schema("run_test_generator.input.json"),
      .output_schema = schema("steps_report.json"),
      .run = [&jobs, library, commands](const Json& arguments, CallContext& context) {
        return run(jobs, library, commands, arguments, context);
      }};
}

}  // namespace assay::tools
