// compile_kernel: source → diagnostics, what every kernel needs and takes, a contract to start
// from.
#include <algorithm>
#include <charconv>
#include <optional>

#include "engine/job/kind.h"
#include "engine/source/cuda_text.h"
#include "tools/inferred_contract.h"
#include "tools/job_answer.h"
#include "tools/job_resources.h"
#include "tools/kernel_argument.h"
#include "tools/machine_code.h"
#include "tools/old_arguments.h"
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

constexpr const char* kDefaultArch = "sm_90";
// What the emulator executes of Triton's PTX.
constexpr const char* kDefaultTritonArch = "sm_89";

// Triton writes PTX for a number that is no target, too.
std::vector<int> triton_targets() { return {75, 80, 86, 87, 89, 90, 100, 120}; }

// "a" (features of this target only) exists from 9.0 on, "f" (of its family) from 10.0 on.
bool has_suffix(int number, char suffix) {
  return suffix == 'a' ? number >= 90 : suffix == 'f' ? number >= 100 : suffix == '\0';
}

// REQUIRES the schema's pattern.
bool is_target(const std::string& arch, const std::vector<int>& numbers) {
  const auto digits = arch.find('_') + 1;
  int number = 0;
  const auto read = std::from_chars(arch.data() + digits, arch.data() + arch.size(), number);
  const char suffix = read.ptr == arch.data() + arch.size() ? '\0' : *read.ptr;
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end() &&
         has_suffix(number, suffix);
}

// "80, sm_89", behind a first "sm_".
std::string numbers_of(const std::vector<int>& numbers) {
  std::string known;
  for (const int number : numbers) {
    known += (known.empty() ? "" : ", sm_") + std::to_string(number);
  }
  return known;
}

std::optional<ToolResult> refuse_arch(Jobs& jobs, const std::string& arch) {
  const Json toolkit = jobs.capabilities(false).value("toolkit", Json::object());
  const auto numbers = toolkit.value("architectures", std::vector<int>{});
  // Without a compiler there is no list: the job says what is missing.
  if (numbers.empty() || is_target(arch, numbers)) return std::nullopt;
  return refuse("/arch", "this machine's compiler (" + toolkit.value("compiler", "NVRTC") +
                             ") makes no code for " + arch + "; it has sm_" + numbers_of(numbers) +
                             ", with suffix a from 90 and f from 100, and compute_ of the same "
                             "numbers");
}

// More is read as a resource: an answer that is all PTX is read by nobody.
constexpr std::uint64_t kMaxIncludedPtxBytes = 256U << 10;

// The PTX beside the report, for callers that cannot read artifacts.
void include_ptx(Jobs& jobs, const std::string& job_id, const CallContext& context,
                 ToolResult& result) {
  const auto record = jobs.find(job_id, context.principal);
  if (!record) return;
  for (const auto& link : record->artifacts) {
    if (link.name != "ptx") continue;
    if (link.bytes > kMaxIncludedPtxBytes) {
      result.structured["ptx_omitted"] = {{"bytes", link.bytes},
                                          {"uri", artifact_uri(job_id, link.name)}};
    } else if (auto ptx = jobs.artifact(link)) {
      result.structured["ptx"] = std::move(*ptx);
    }
  }
}

// What the machine code does, beside the report: a run of the disassembler, so only for who asks
// for everything.
void include_machine_code(Jobs& jobs, const std::string& job_id, const CallContext& context,
                          ToolResult& result) {
  const auto record = jobs.find(job_id, context.principal);
  if (!record || record->verdict != job::Verdict::passed) return;
  const auto code = machine_code_of(jobs, *record, context.stop);
  result.structured["machine_code"] =
      code.text ? machine_code_summary(*code.text, 0) : Json{{"unsupported", code.missing}};
}

// The kernel that evaluate would run: the one named, as the instance asked for; "" for the first.
std::string wanted_kernel(const KernelArgument& kernel) {
  std::string name = kernel.body.value("kernel_name", std::string());
  for (const auto& expression : kernel.body.value("name_expressions", std::vector<std::string>{})) {
    if (name.empty() || expression.substr(0, expression.find('<')) == name) return expression;
  }
  return name;
}

// What the source itself gives away of a contract, `io` null with the reason where no contract can
// hold its parameters; null if nothing is seen, or nothing that would hold.
Json inferred_draft(const KernelArgument& kernel) {
  if (kernel.kernel_type != "cuda") return nullptr;
  auto inferred = infer_contract(source::cuda_text(kernel.given).text, wanted_kernel(kernel), {});
  auto* good = std::get_if<InferredContract>(&inferred);
  if (good == nullptr) {
    const auto& none = std::get<NotInferred>(inferred);
    if (none.kernel_name.empty()) return nullptr;
    return {{"kernel", none.kernel_name}, {"io", nullptr}, {"guesses", {none.reason}}};
  }
  const auto parsed = contract::parse(good->document);
  const auto* holds = std::get_if<contract::Parsed>(&parsed);
  if (holds == nullptr ||
      !contract::requirements(kernel.kernel_type, &holds->contract, "").empty()) {
    return nullptr;
  }
  const bool is_instance = !good->instance.empty();
  const std::string name = is_instance ? good->instance : good->kernel_name;
  Json draft = {{"kernel", name}, {"io", good->document}, {"guesses", good->assumptions}};
  if (is_instance) {
    draft["metadata"] = {{"kernel_name", name}, {"name_expressions", Json::array({name})}};
  }
  return draft;
}

ToolResult run(Jobs& jobs, const Library* library, const Json& arguments, CallContext& context) {
  std::vector<Violation> violations;
  KernelArgument kernel = read_kernel(arguments.at("kernel"), "/kernel", nullptr, violations,
                                      references_of(jobs, library, context), ContractNeed::none);
  const bool is_triton = kernel.kernel_type == "triton";
  if (violations.empty() && is_triton && !kernel.contract) {
    violations.push_back({"/kernel/io",
                          "Triton compiles for given arguments: their types, the values of metas "
                          "and num_warps are the contract's"});
  }
  if (!violations.empty()) return refuse(violations);
  if (auto unsupported = unsupported_type("kernel", kernel.kernel_type))
    return std::move(*unsupported);
  const std::string arch = arguments.value("arch", is_triton ? kDefaultTritonArch : kDefaultArch);
  if (is_triton && (!arch.starts_with("sm_") || !is_target(arch, triton_targets()))) {
    return refuse("/arch", "Triton compiles for real targets: sm_" + numbers_of(triton_targets()));
  }
  if (auto refused = is_triton ? std::nullopt : refuse_arch(jobs, arch)) {
    return std::move(*refused);
  }
  if (auto refused = refuse_python(jobs, arguments)) return std::move(*refused);
  if (arguments.contains("python")) kernel.body["python"] = arguments.at("python");
  if (auto refused = refuse_isolation(jobs, arguments)) return std::move(*refused);
  const Json listing = {{"arch", arch}, {"draft", inferred_draft(kernel)}};
  auto submitted = submit_job(
      jobs, job::kernel_kind(),
      {{"kernel", kernel.body}, {"listing", listing}, {"warnings", warnings_json(kernel.warnings)}},
      context.principal, "compiled");
  if (auto* refused = std::get_if<ToolResult>(&submitted)) return std::move(*refused);
  const auto& job_id = std::get<std::string>(submitted);
  ToolResult result = answer_for_new_job(jobs, job_id, arguments, context);
  if (!result.task && arguments.value("include_ptx", false))
    include_ptx(jobs, job_id, context, result);
  if (!result.task && arguments.value("detail", "short") == "full")
    include_machine_code(jobs, job_id, context, result);
  return result;
}

}  // namespace

mcp::Tool compile_kernel(Jobs& jobs, const Library* library) {
  return {.name = "compile_kernel",
          .title = "Compile a kernel",
          .description =
              "Compiles CUDA C++ (or Triton, with an io) for any target, without a GPU and without "
              "running it. Returns diagnostics at the source's own lines and columns; for every "
              "kernel its "
              "signature, registers, spills, stack, shared and constant memory, occupancy and what "
              "limits it, and whether it can run here; and a draft IO contract for `evaluate`. A "
              "source that does not compile is an answer (verdict compile_failed), not an error.",
          .annotations = {.read_only = false,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("compile_kernel.input.json"),
          .output_schema = schema("compile_report.json"),
          .run = [&jobs, library](
                     const Json& arguments,
                     CallContext& context) { return run(jobs, library, arguments, context); },
          .adapt = from_old_compile};
}

}  // namespace assay::tools
