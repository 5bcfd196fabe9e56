// What a call that makes a kernel job asks of the machine before the job is made. Each gives the
// answer to return, or nothing: go on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/tool.h"
#include "tools/jobs.h"

namespace assay::tools {

// Whether runners that are confined at `level` are confined as much as `wanted` says.
[[nodiscard]] bool is_at_least(std::string_view level, std::string_view wanted);

// `min_isolation`, if `arguments` has one.
[[nodiscard]] std::optional<mcp::ToolResult> refuse_isolation(Jobs& jobs,
                                                              const mcp::Json& arguments);

// `device`: auto, emulator, gpu:N, or gpu for any.
[[nodiscard]] std::optional<mcp::ToolResult> refuse_device(Jobs& jobs, const std::string& device);

// `python`, if `arguments` has one: the name or path of an interpreter that the server was started
// with, never another.
[[nodiscard]] std::optional<mcp::ToolResult> refuse_python(Jobs& jobs, const mcp::Json& arguments);

// Whether a kernel of the type runs by itself, without host code of its source.
[[nodiscard]] bool is_device_code(std::string_view kernel_type);

// `argument` names the kernel. A kernel type that a tool for device code does not take: an answer,
// not a refusal.
[[nodiscard]] std::optional<mcp::ToolResult> unsupported_type(const std::string& argument,
                                                              const std::string& kernel_type);

struct ArgumentType {
  std::string argument{};
  std::string kernel_type{};
};
// Likewise, of what is to be judged together, the judged one last: what no engine of this version
// does. Whether an interpreter is there is the engine's to say.
[[nodiscard]] std::optional<mcp::ToolResult> unsupported_task(
    const std::vector<ArgumentType>& types);
// `oracle: "float64"` for these: what cannot be evaluated in double.
[[nodiscard]] std::optional<mcp::ToolResult> unsupported_oracle(
    const std::vector<ArgumentType>& types);

}  // namespace assay::tools
