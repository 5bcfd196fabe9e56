#include "tools/kernel_request.h"

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/job/kind.h"
#include "tools/device_metrics_argument.h"
#include "tools/hidden_tasks.h"
#include "tools/job_answer.h"
#include "tools/kernel_argument.h"
#include "tools/preconditions.h"
#include "tools/refusal.h"
#include "tools/same_task.h"
#include "tools/tools.h"

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
  if (auto refused = refuse_device(jobs, device)) return refused;
  if (const Json baseline = option(arguments, "baseline", nullptr); baseline.is_string()) {
    const auto record = jobs.find(baseline.get<std::string>(), principal);
    if (!record) return refuse("/baseline", "there is no such job of yours");
    if (!job::is_final(record->state)) return refuse("/baseline", "that job has not ended yet");
  }
  if (auto refused = refuse_python(jobs, arguments)) return refused;
  return refuse_isolation(jobs, arguments);
}

struct Request {
  nlohmann::json order = nlohmann::json::object();
  std::vector<contract::Violation> violations{};
  std::vector<contract::Violation> warnings{};
  std::vector<ArgumentType> types{};
};

void take_warnings(const KernelArgument& from, Request& request) {
  request.warnings.insert(request.warnings.end(), from.warnings.begin(), from.warnings.end());
}

void read_generalise(const Json& arguments, const KernelRoles& roles, const References& references,
                     Request& request) {
  if (!request.order.contains("ref_kernel")) {
    request.violations.push_back(
        {"/generalise", std::string("needs ") + roles.reference + " to say what is right"});
    return;
  }
  const ArgumentType& judged = request.types.back();
  if (!is_device_code(judged.kernel_type)) {
    request.violations.push_back({"/generalise", "varies `cuda` and `triton` kernels only; '" +
                                                     judged.argument + "' is of type " +
                                                     judged.kernel_type});
    return;
  }
  if (!request.violations.empty()) return;  // nothing is drawn beside what is no contract
  std::mt19937_64 draw(std::random_device{}());
  const HiddenTasks hidden = hidden_tasks(arguments.at(roles.judged), arguments.at(roles.reference),
                                          asked_tolerance(arguments), references, draw);
  request.order["generalise"] = {{"tasks", hidden.list}, {"note", hidden.note}};
}

// Whether a Python source works on a GPU's tensors here, unless its interpreter says otherwise.
bool runs_on_gpu(Jobs& jobs, const Json& arguments) {
  const std::string device = option(arguments, "device", "auto");
  if (device != "auto" && !device.starts_with("gpu")) return false;
  const Json types = jobs.capabilities(false).value("kernel_types", Json::object());
  return types.value("torch", Json::object()).value("runs_on", "").starts_with("gpu");
}

// Whether what it launches goes to the emulator where there is no GPU: what load_inline builds
// does.
bool launches_on_emulator(const ArgumentType& judged, const Request& request) {
  const std::string source = request.order.at("kernel").value("source", std::string());
  return judged.kernel_type == "torch_cuda" ||
         (judged.kernel_type == "multi_kernel" && source.find("load_inline") != std::string::npos);
}

// The emulator's checks look at device code; torch's own kernels and Triton's are shown to it by no
// Python source, but on a GPU, where its launches can be repeated.
void refuse_checks(Jobs& jobs, const Json& arguments, const ArgumentType& judged,
                   Request& request) {
  if (is_device_code(judged.kernel_type) || option(arguments, "checks", Json::array()).empty() ||
      launches_on_emulator(judged, request) || runs_on_gpu(jobs, arguments)) {
    return;
  }
  const char* instead = judged.kernel_type == "multi_kernel"
                            ? "Its Triton kernels can be checked one by one as "
                              "kernel_type `triton`, its CUDA kernels "
                              "as `cuda`, each with an io that has a launch."
                            : "torch launches kernels of its own; one of yours "
                              "can be checked as kernel_type `triton` "
                              "or `cuda`.";
  request.violations.push_back({"/checks",
                                "look at device code, without a GPU at that of `cuda` and `triton` "
                                "and at what load_inline built; '" +
                                    judged.argument + "' is of type " + judged.kernel_type + ". " +
                                    instead});
}

// A contract that is at fault was told once, where it stands: it is not missing elsewhere too.
ContractNeed need_of_reference(const Json& judged, const KernelArgument& kernel) {
  const bool is_faulty = !kernel.contract && !option(judged, "io", nullptr).is_null();
  return is_faulty ? ContractNeed::none : ContractNeed::as_the_type_says;
}

void hold_tolerances(const Json& arguments, const KernelRoles& roles,
                     const contract::Contract& reference, KernelArgument& kernel,
                     Request& request) {
  const auto found = hold_to_reference(*kernel.contract, std::string("/") + roles.judged, reference,
                                       asked_tolerance(arguments));
  if (found.empty()) return;
  kernel.body["contract"] = contract::to_json(*kernel.contract);
  request.warnings.insert(request.warnings.end(), found.begin(), found.end());
}

Request read_request(const Json& arguments, const KernelRoles& roles,
                     const References& references) {
  Request request;
  KernelArgument kernel = read_kernel(arguments.at(roles.judged), std::string("/") + roles.judged,
                                      nullptr, request.violations, references);
  take_warnings(kernel, request);
  const auto reference = arguments.find(roles.reference);
  if (reference != arguments.end() && !reference->is_null()) {
    const KernelArgument read =
        read_kernel(*reference, std::string("/") + roles.reference,
                    kernel.contract ? &*kernel.contract : nullptr, request.violations, references,
                    need_of_reference(arguments.at(roles.judged), kernel));
    request.order["ref_kernel"] = read.body;
    take_warnings(read, request);
    request.types.push_back({roles.reference, read.kernel_type});
    if (read.contract && kernel.contract) {
      // What Python returns is compared without an argument for it.
      if (is_device_code(kernel.kernel_type)) {
        const auto nothing = compares_nothing(*kernel.contract, std::string("/") + roles.judged);
        request.violations.insert(request.violations.end(), nothing.begin(), nothing.end());
      }
      hold_tolerances(arguments, roles, *read.contract, kernel, request);
      const auto found = compare_tasks(*kernel.contract, std::string("/") + roles.judged,
                                       *read.contract, std::string("/") + roles.reference);
      request.violations.insert(request.violations.end(), found.violations.begin(),
                                found.violations.end());
      request.warnings.insert(request.warnings.end(), found.warnings.begin(), found.warnings.end());
    }
  }
  request.order["kernel"] = std::move(kernel.body);
  request.types.push_back({roles.judged, kernel.kernel_type});
  if (arguments.contains("python")) {
    for (const char* side : {"kernel", "ref_kernel"}) {
      if (request.order.contains(side)) request.order[side]["python"] = arguments.at("python");
    }
  }
  request.order["names"] = {{"judged", roles.judged}, {"reference", roles.reference}};
  request.order["options"] = {
      {"num_trials", option(arguments, "num_trials", 100)},
      {"may_add_trials", option(arguments, "num_trials", nullptr).is_null()},
      {"num_warmup", option(arguments, "num_warmup", 10)},
      {"timing_method", option(arguments, "timing_method", "auto")},
      {"validation_trials", option(arguments, "validation_trials", 3)},
      {"timeout", option(arguments, "timeout", 120)},
      {"atol", option(arguments, "atol", nullptr)},
      {"rtol", option(arguments, "rtol", nullptr)},
      {"device", option(arguments, "device", "auto")},
      {"until", option(arguments, "until", "profiled")},
      {"checks", option(arguments, "checks", Json::array())},
      {"check_blocks", option(arguments, "check_blocks", nullptr)},
      {"oracle", option(arguments, "oracle", "reference")},
      {"device_metrics", read_device_metrics(arguments, request.violations)},
      {"baseline", option(arguments, "baseline", nullptr)}};
  if (option(arguments, "generalise", false).get<bool>()) {
    read_generalise(arguments, roles, references, request);
  }
  return request;
}

}  // namespace

ToolResult judge(Jobs& jobs, const Library* library, const KernelRoles& roles,
                 const Json& arguments, CallContext& context) {
  Request request = read_request(arguments, roles, references_of(jobs, library, context));
  refuse_checks(jobs, arguments, request.types.back(), request);
  if (!request.violations.empty()) return refuse(request.violations);
  if (auto refused = refuse_here(jobs, arguments, context.principal)) return std::move(*refused);
  if (auto unsupported = unsupported_task(request.types)) return std::move(*unsupported);
  if (option(arguments, "oracle", "reference") == "float64") {
    if (auto unsupported = unsupported_oracle(request.types)) return std::move(*unsupported);
  }
  request.order["warnings"] = warnings_json(request.warnings);
  auto until = request.order.at("options").at("until").get<std::string>();
  auto submitted = submit_job(jobs, job::kernel_kind(), std::move(request.order), context.principal,
                              std::move(until));
  if (auto* refused = std::get_if<ToolResult>(&submitted)) return std::move(*refused);
  return answer_for_new_job(jobs, std::get<std::string>(submitted), arguments, context);
}

}  // namespace assay::tools
