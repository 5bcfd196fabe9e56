// check_capabilities: devices, toolkit, kernel types, and the isolation that was seen to be in
// force.
#include "tools/refusal.h"
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

}  // namespace

mcp::Tool check_capabilities(Jobs& jobs) {
  return {.name = "check_capabilities",
          .title = "Check capabilities",
          .description =
              "Devices, CUDA compiler, supported kernel types, and how runners are confined, each "
              "as seen by testing it, with the reason for what is missing.",
          .annotations = {.read_only = true,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("check_capabilities.input.json"),
          .output_schema = schema("capabilities.json"),
          .run = [&jobs](const Json& arguments, CallContext&) {
            ToolResult result{.structured = jobs.capabilities(arguments.value("refresh", false))};
            result.text = describe(result.structured);
            return result;
          }};
}

}  // namespace assay::tools
