#include "tools/preconditions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/refusal.h"

namespace assay::tools {

using mcp::Json;
using mcp::ToolResult;

namespace {

// Strength of the confinement levels, weakest first (schemas/*.input.json).
constexpr std::array<std::string_view, 6> kLevels{"L0", "L1", "L1u", "L1n", "L2", "L3"};

std::size_t rank(std::string_view level) {
  return static_cast<std::size_t>(std::find(kLevels.begin(), kLevels.end(), level) -
                                  kLevels.begin());
}

}  // namespace

bool is_at_least(std::string_view level, std::string_view wanted) {
  return rank(level) >= rank(wanted);
}

std::optional<ToolResult> refuse_isolation(Jobs& jobs, const Json& arguments) {
  const auto wanted = arguments.find("min_isolation");
  if (wanted == arguments.end()) return std::nullopt;
  const auto seen = jobs.capabilities(false).at("isolation").at("level").get<std::string>();
  if (is_at_least(seen, wanted->get<std::string>())) return std::nullopt;
  return refuse("/min_isolation",
                "runners are confined at " + seen +
                    " here; check_capabilities says which layer is missing and why");
}

std::optional<ToolResult> refuse_device(Jobs& jobs, const std::string& device) {
  if (!device.starts_with("gpu")) return std::nullopt;
  const Json capabilities = jobs.capabilities(false);
  std::string known;
  for (const auto& one : capabilities.at("devices")) {
    const std::string name = one.at("name");
    if (name == device) return std::nullopt;
    if (device == "gpu" && one.at("kind") == "gpu") return std::nullopt;
    known += (known.empty() ? "" : ", ") + name;
  }
  const Json reason = capabilities.value("no_gpu", Json());
  return refuse("/device", "this server has no " + device + "; devices: " + known +
                               (reason.is_string() ? " (" + reason.get<std::string>() + ")" : ""));
}

std::optional<ToolResult> refuse_python(Jobs& jobs, const Json& arguments) {
  const auto wanted = arguments.find("python");
  if (wanted == arguments.end()) return std::nullopt;
  const Json capabilities = jobs.capabilities(false);
  std::string known;
  for (const auto& one : capabilities.at("python")) {
    const std::string name = one.at("name");
    if (*wanted == name || *wanted == one.at("executable")) return std::nullopt;
    known += (known.empty() ? "" : ", ") + name;
  }
  return refuse("/python", "this server was started with no such interpreter; it has: " + known);
}

namespace {

ToolResult unsupported(const std::string& summary) {
  return {.structured = {{"status", "success"},
                         {"state", "completed"},
                         {"job_id", ""},
                         {"verdict", "unsupported"},
                         {"trust", nullptr},
                         {"summary", summary}},
          .text = "unsupported\n" + summary};
}

}  // namespace

bool is_device_code(std::string_view kernel_type) {
  return kernel_type == "cuda" || kernel_type == "triton";
}

std::optional<ToolResult> unsupported_type(const std::string& argument,
                                           const std::string& kernel_type) {
  if (is_device_code(kernel_type)) return std::nullopt;
  return unsupported("/" + argument + ": kernel type '" + kernel_type +
                     "' is not for this tool, which takes `cuda` and `triton`. `evaluate` and "
                     "`compare` also judge `torch`, `torch_cuda` and `multi_kernel`.");
}

std::optional<ToolResult> unsupported_task(const std::vector<ArgumentType>& types) {
  const bool is_judged = is_device_code(types.back().kernel_type);
  if (is_judged || !is_device_code(types.front().kernel_type)) return std::nullopt;
  return unsupported("/" + types.front().argument + ": a reference in `" +
                     types.front().kernel_type +
                     "` cannot judge a Python source yet; the other way round it can: a torch "
                     "reference, and a `cuda` or `triton` kernel.");
}

std::optional<ToolResult> unsupported_oracle(const std::vector<ArgumentType>& types) {
  const auto& [reference, type] = types.front();
  if (!is_device_code(types.back().kernel_type)) {
    return unsupported("/oracle: float64 is for `cuda` and `triton` kernels; '" +
                       types.back().argument + "' is of type " + types.back().kernel_type + ".");
  }
  if (types.size() < 2) {
    return unsupported(
        "/oracle: float64 needs a reference in `torch` or `cuda`, to be evaluated in double.");
  }
  // Whether a source in CUDA has a form in double is the engine's to say.
  if (type == "torch" || type == "cuda") return std::nullopt;
  return unsupported("/oracle: float64 needs a reference in `torch` or `cuda`: '" + reference +
                     "' is of type " + type +
                     ", which computes in the types that its source names, and nothing can "
                     "evaluate it in double. A reference whose own arithmetic is double is "
                     "compared with as any other, without `oracle`.");
}

}  // namespace assay::tools
