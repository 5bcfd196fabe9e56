// check_capabilities: devices, toolkit, kernel types, and the isolation that was seen to be in
// force.
#include "plans/requirements_job.h"
#include "tools/job_answer.h"
#include "tools/refusal.h"
#include "tools/requirements_argument.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

std::string describe(const OrderedJson& seen) {
  std::string text = "devices:";
  for (const auto& device : seen.at("devices")) text += " " + device.at("name").get<std::string>();
  text += "\nkernel types:";
  for (const auto& [name, type] : seen.at("kernel_types").items()) {
    text +=
        " " + name +
        (type.at("supported").get<bool>() ? ""
                                          : " (no: " + type.at("missing").get<std::string>() + ")");
  }
  const auto& isolation = seen.at("isolation");
  text += "\nisolation seen in force: " + isolation.at("level").get<std::string>();
  for (const auto& missing : isolation.at("not_in_force")) {
    text += "\n  not in force: " + missing.at("what").get<std::string>() + " (" +
            missing.at("why").get<std::string>() + ")";
  }
  return text;
}

// Looking starts programs (an interpreter, a container engine): the engine's to do.
ToolResult with_requirements(Jobs& jobs, const Json& needs, ToolResult result,
                             CallContext& context) {
  std::vector<contract::Violation> violations;
  check_requirements(needs, violations);
  if (!violations.empty()) return refuse(violations);
  constexpr double kPatienceS = 300;
  const std::string id =
      jobs.submit(plans::requirements_kind(), {{"requires", needs}}, context.principal);
  const ToolResult answer = answer_for_job(jobs, id, {{"wait_s", kPatienceS}}, context);
  if (!answer.structured.contains("requirements")) return answer;
  result.structured["requirements"] = answer.structured.at("requirements");
  result.text = answer.structured.at("requirements").at("verdict").get<std::string>() + ": " +
                answer.structured.at("summary").get<std::string>() + "\n" + result.text;
  return result;
}

}  // namespace

mcp::Tool check_capabilities(Jobs& jobs) {
  return {
      .name = "check_capabilities",
      .title = "Check capabilities",
      .description =
          "Devices, CUDA compiler, supported kernel types, and how runners are confined, each "
          "as seen by testing it, with the reason for what is missing. With `requires`: whether "
          "this machine has what is needed, item by item.",
      .annotations = {.read_only = true,
                      .destructive = false,
                      .idempotent = true,
                      .open_world = false},
      .input_schema = schema("check_capabilities.input.json"),
      .output_schema = schema("capabilities.json"),
      .run = [&jobs](const Json& arguments, CallContext& context) {
        ToolResult result{.structured = jobs.capabilities(arguments.value("refresh", false))};
        result.text = describe(result.structured);
        return arguments.contains("requires")
                   ? with_requirements(jobs, arguments.at("requires"), std::move(result), context)
                   : result;
      }};
}

}  // namespace assay::tools
