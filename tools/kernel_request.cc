#include "tools/kernel_request.h"

#include <optional>
#include <string>

#include "engine/job/kind.h"
#include "tools/job_answer.h"
#include "tools/kernel_argument.h"
#include "tools/preconditions.h"
#include "tools/refusal.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::ToolResult;

Json option(const Json& arguments, const char* key, const Json& otherwise) {
  const auto found = arguments.find(key);
  return found == arguments.end() || found->is_null() ? otherwise : *found;
}

// What needs the machine, asked before a job is made.
std::optional<ToolResult> refuse_here(Jobs& jobs, const Json& arguments,
                                      const std::string& principal) {
  const std::string device = option(arguments, "device", "auto");
  if (device.starts_with("gpu")) {
    return refuse("/device", "this server has no GPU; devices: emulator");
  }
  if (const Json baseline = option(arguments, "baseline", nullptr); baseline.is_string()) {
    const auto record = jobs.find(baseline.get<std::string>(), principal);
    if (!record) return refuse("/baseline", "there is no such job of yours");
    if (!job::is_final(record->state)) return refuse("/baseline", "that job has not ended yet");
  }
  return refuse_isolation(jobs, arguments);
}

}  // namespace

KernelRequest read_kernel_request(const Json& arguments, const KernelRoles& roles) {
  KernelRequest request;
  const KernelArgument kernel = read_kernel(
      arguments.at(roles.judged), std::string("/") + roles.judged, nullptr, request.violations);
  request.order["kernel"] = kernel.body;
  request.warnings = kernel.warnings;
  const auto reference = arguments.find(roles.reference);
  if (reference != arguments.end() && !reference->is_null()) {
    const KernelArgument read =
        read_kernel(*reference, std::string("/") + roles.reference,
                    kernel.contract ? &*kernel.contract : nullptr, request.violations);
    request.order["ref_kernel"] = read.body;
  }
  request.order["names"] = {{"judged", roles.judged}, {"reference", roles.reference}};
  request.order["options"] = {
      {"num_trials", option(arguments, "num_trials", 100)},
      {"num_warmup", option(arguments, "num_warmup", 10)},
      {"validation_trials", option(arguments, "validation_trials", 3)},
      {"timeout", static_cast<std::int64_t>(option(arguments, "timeout", 120).get<double>())},
      {"atol", option(arguments, "atol", nullptr)},
      {"rtol", option(arguments, "rtol", nullptr)},
      {"until", option(arguments, "until", "profiled")},
      {"baseline", option(arguments, "baseline", nullptr)}};
  return request;
}

ToolResult judge(Jobs& jobs, KernelRequest request, const KernelRoles& roles, const Json& arguments,
                 CallContext& context) {
  if (!request.violations.empty()) return refuse(request.violations);
  if (auto refused = refuse_here(jobs, arguments, context.principal)) return std::move(*refused);
  for (const char* name : {roles.reference, roles.judged}) {
    const Json kernel = option(arguments, name, nullptr);
    if (kernel.is_null()) continue;
    if (auto unsupported = unsupported_type(name, kernel.at("kernel_type"))) {
      return std::move(*unsupported);
    }
  }
  std::string job_id;
  try {
    job_id = jobs.submit(job::kernel_kind(), std::move(request.order), context.principal);
  } catch (const journal::JournalUnavailable& error) {
    return server_fault(
        std::string("The job could not be recorded, so it was not run: ") + error.what(), true);
  }
  return answer_for_new_job(jobs, job_id, arguments, request.warnings, context);
}

}  // namespace assay::tools
