// evaluate: compile, validate (against a reference if one is given), time, profile.
#include <algorithm>
#include <array>
#include <optional>

#include "engine/job/kind.h"
#include "tools/job_answer.h"
#include "tools/kernel_argument.h"
#include "tools/refusal.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using contract::Violation;
using mcp::CallContext;
using mcp::Json;
using mcp::ToolResult;

struct Request {
  nlohmann::json order = nlohmann::json::object();
  std::string kernel_type{};
  std::vector<Violation> violations{};
  std::vector<Violation> warnings{};
};

Json option(const Json& arguments, const char* key, Json otherwise) {
  const auto found = arguments.find(key);
  return found == arguments.end() || found->is_null() ? otherwise : *found;
}

Request read_request(const Json& arguments, const References& references) {
  Request request;
  const KernelArgument kernel =
      read_kernel(arguments.at("kernel"), "/kernel", nullptr, request.violations, references);
  request.order["kernel"] = kernel.body;
  request.kernel_type = kernel.kernel_type;
  request.warnings = kernel.warnings;
  if (const auto ref = arguments.find("ref_kernel"); ref != arguments.end() && !ref->is_null()) {
    const KernelArgument reference =
        read_kernel(*ref, "/ref_kernel", kernel.contract ? &*kernel.contract : nullptr,
                    request.violations, references);
    request.order["ref_kernel"] = reference.body;
    request.warnings.insert(request.warnings.end(), reference.warnings.begin(),
                            reference.warnings.end());
  }
  request.order["options"] = {
      {"num_trials", option(arguments, "num_trials", 100)},
      {"num_warmup", option(arguments, "num_warmup", 10)},
      {"validation_trials", option(arguments, "validation_trials", 3)},
      {"timeout", static_cast<std::int64_t>(option(arguments, "timeout", 120).get<double>())},
      {"atol", option(arguments, "atol", nullptr)},
      {"rtol", option(arguments, "rtol", nullptr)},
      {"until", option(arguments, "until", "profiled")}};
  return request;
}

// Strength of the confinement levels, weakest first (schemas/evaluate.input.json).
constexpr std::array<std::string_view, 6> kLevels{"L0", "L1", "L1u", "L1n", "L2", "L3"};

std::size_t rank(std::string_view level) {
  return static_cast<std::size_t>(std::find(kLevels.begin(), kLevels.end(), level) -
                                  kLevels.begin());
}

// What needs the machine, asked before a job is made.
std::optional<ToolResult> refuse_here(Jobs& jobs, const Json& arguments) {
  const std::string device = option(arguments, "device", "auto");
  if (device.rfind("gpu", 0) == 0) {
    return refuse("/device", "this server has no GPU; devices: emulator");
  }
  const auto wanted = arguments.find("min_isolation");
  if (wanted == arguments.end()) return std::nullopt;
  const auto seen = jobs.capabilities(false).at("isolation").at("level").get<std::string>();
  if (rank(seen) >= rank(wanted->get<std::string>())) return std::nullopt;
  return refuse("/min_isolation",
                "runners are confined at " + seen +
                    " here; check_capabilities says which layer is missing and why");
}

std::optional<ToolResult> unsupported_type(const std::string& kernel_type) {
  if (kernel_type == "cuda") return std::nullopt;
  return ToolResult{
      .structured = {{"status", "success"},
                     {"state", "completed"},
                     {"job_id", ""},
                     {"verdict", "unsupported"},
                     {"trust", nullptr},
                     {"summary",
                      "Kernel type '" + kernel_type +
                          "' needs a Python runner, which this version does not have; it "
                          "judges `cuda`."}},
      .text = "unsupported\nKernel type '" + kernel_type +
              "' needs a Python runner, which this version does not have; it judges `cuda`."};
}

ToolResult run(Jobs& jobs, const Library* library, const Json& arguments, CallContext& context) {
  Request request = read_request(arguments, references_of(jobs, library, context));
  if (!request.violations.empty()) return refuse(request.violations);
  if (auto refused = refuse_here(jobs, arguments)) return std::move(*refused);
  if (auto unsupported = unsupported_type(request.kernel_type)) return std::move(*unsupported);
  std::string job_id;
  try {
    job_id = jobs.submit(job::kernel_kind(), std::move(request.order), context.principal);
  } catch (const journal::JournalUnavailable& error) {
    return server_fault(
        std::string("The job could not be recorded, so it was not run: ") + error.what(), true);
  }
  return answer_for_new_job(jobs, job_id, arguments, request.warnings, context);
}

}  // namespace

mcp::Tool evaluate(Jobs& jobs, const Library* library) {
  return {.name = "evaluate",
          .title = "Evaluate a kernel",
          .description =
              "Compiles a GPU kernel, runs it with fresh inputs, judges its outputs against a "
              "reference kernel (if given), and times it. Returns a report: `verdict` (passed, "
              "compile_failed, contract_invalid, wrong_output, crashed, timed_out, …), `summary` "
              "with the cause, every stage. Without a GPU, CUDA runs on a PTX emulator: right or "
              "wrong is exact, times are not GPU times.",
          .annotations = {.read_only = false,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("evaluate.input.json"),
          .output_schema = schema("report.json"),
          .run = [&jobs, library](const Json& arguments, CallContext& context) {
            return run(jobs, library, arguments, context);
          }};
}

}  // namespace assay::tools
