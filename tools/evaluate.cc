// evaluate: compile, validate (against a reference if one is given), time, profile.
#include <optional>

#include "engine/job/kind.h"
#include "tools/job_answer.h"
#include "tools/kernel_argument.h"
#include "tools/preconditions.h"
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
  std::vector<Violation> violations{};
  std::vector<Violation> warnings{};
};

Json option(const Json& arguments, const char* key, Json otherwise) {
  const auto found = arguments.find(key);
  return found == arguments.end() || found->is_null() ? otherwise : *found;
}

Request read_request(const Json& arguments) {
  Request request;
  const KernelArgument kernel =
      read_kernel(arguments.at("kernel"), "/kernel", nullptr, request.violations);
  request.order["kernel"] = kernel.body;
  request.warnings = kernel.warnings;
  if (const auto ref = arguments.find("ref_kernel"); ref != arguments.end() && !ref->is_null()) {
    const KernelArgument reference = read_kernel(
        *ref, "/ref_kernel", kernel.contract ? &*kernel.contract : nullptr, request.violations);
    request.order["ref_kernel"] = reference.body;
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

// What needs the machine, asked before a job is made.
std::optional<ToolResult> refuse_here(Jobs& jobs, const Json& arguments) {
  const std::string device = option(arguments, "device", "auto");
  if (device.rfind("gpu", 0) == 0) {
    return refuse("/device", "this server has no GPU; devices: emulator");
  }
  return refuse_isolation(jobs, arguments);
}

ToolResult run(Jobs& jobs, const Json& arguments, CallContext& context) {
  Request request = read_request(arguments);
  if (!request.violations.empty()) return refuse(request.violations);
  if (auto refused = refuse_here(jobs, arguments)) return std::move(*refused);
  const std::string kernel_type = arguments.at("kernel").at("kernel_type");
  if (auto unsupported = unsupported_type(kernel_type)) return std::move(*unsupported);
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

mcp::Tool evaluate(Jobs& jobs) {
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
          .run = [&jobs](const Json& arguments, CallContext& context) {
            return run(jobs, arguments, context);
          }};
}

}  // namespace assay::tools
