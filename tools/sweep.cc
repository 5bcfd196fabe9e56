// sweep: variants × parameters of one kernel in one call, each verified, ranked with ties.
#include <optional>

#include "engine/node/sweep_job.h"
#include "tools/kernel_argument.h"
#include "tools/preconditions.h"
#include "tools/refusal.h"
#include "tools/schemas.h"
#include "tools/step_job.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using contract::Violation;
using mcp::CallContext;
using mcp::Json;
using mcp::ToolResult;

constexpr std::size_t kMostVariants = 64;

struct Candidate {
  Json kernel = Json::object();  // the argument, as evaluate takes it
  Json parameters = Json::object();
  std::string name{};
  std::string pointer{};  // where it stands in the call
};

// What a variant gives stands instead of the kernel's; metadata member by member.
std::vector<Candidate> variants_of(const Json& arguments) {
  const Json& base = arguments.at("kernel");
  const Json variants = arguments.value("variants", Json::array());
  if (variants.empty()) return {{.kernel = base, .name = "kernel", .pointer = "/kernel"}};
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Candidate candidate{.kernel = base, .pointer = "/variants/" + std::to_string(i)};
    candidate.name = variants[i].value("name", "variant " + std::to_string(i));
    for (const auto& [key, value] : variants[i].items()) {
      if (key == "name") continue;
      if (key == "source_code" || key == "source_file" || key == "job_id") {
        for (const char* other : {"source_code", "source_file", "job_id"}) {
          candidate.kernel.erase(other);
        }
      }
      if (key == "metadata" && value.is_object() && candidate.kernel.contains("metadata") &&
          candidate.kernel["metadata"].is_object()) {
        candidate.kernel["metadata"].update(value);
      } else {
        candidate.kernel[key] = value;
      }
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

// A macro of that name for the source, and a size of that name for the contract's expressions.
void apply(Candidate& candidate, const std::string& name, const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  candidate.parameters[name] = value;
  candidate.name += " " + name + "=" + text;
  Json& metadata = candidate.kernel["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (!metadata.contains("compiler_options")) metadata["compiler_options"] = Json::array();
  metadata["compiler_options"].push_back("-D" + name + "=" + text);
  Json& io = candidate.kernel["io"];
  if (io.is_object() && value.is_number_integer()) io["sizes"][name] = value;
}

// Nothing if there would be too many.
std::optional<std::vector<Candidate>> expand(std::vector<Candidate> candidates,
                                             const Json& parameters) {
  for (const auto& [name, values] : parameters.items()) {
    std::vector<Candidate> next;
    if (candidates.size() * values.size() > kMostVariants) return std::nullopt;
    for (const auto& candidate : candidates) {
      for (const auto& value : values) {
        next.push_back(candidate);
        apply(next.back(), name, value);
      }
    }
    candidates = std::move(next);
  }
  return candidates;
}

// A stored contract by its document, so that parameters can be put into its sizes.
void resolve_contracts(std::vector<Candidate>& candidates, const References& references,
                       std::vector<Violation>& violations) {
  for (auto& candidate : candidates) {
    const auto io = candidate.kernel.find("io");
    if (io == candidate.kernel.end() || !io->is_string()) continue;
    if (auto document = contract_document(*io, candidate.pointer + "/io", references, violations)) {
      *io = std::move(*document);
    }
  }
}

nlohmann::json options_of(const Json& arguments) {
  return {{"num_trials", arguments.value("num_trials", 100)},
          {"num_warmup", 1},
          {"validation_trials", arguments.value("validation_trials", 3)},
          {"timeout", arguments.value("timeout", 30)},
          {"atol", arguments.value("atol", Json(nullptr))},
          {"rtol", arguments.value("rtol", Json(nullptr))},
          {"device", arguments.value("device", "auto")},
          {"until", "timed"},
          {"baseline", nullptr}};
}

nlohmann::json read_variants(const std::vector<Candidate>& candidates, const References& references,
                             std::vector<Violation>& violations,
                             std::optional<contract::Contract>& first_contract,
                             std::optional<ToolResult>& unsupported) {
  nlohmann::json variants = nlohmann::json::array();
  for (const auto& candidate : candidates) {
    const KernelArgument read =
        read_kernel(candidate.kernel, candidate.pointer, nullptr, violations, references);
    if (!first_contract) first_contract = read.contract;
    if (!unsupported) unsupported = unsupported_type("kernel", read.kernel_type);
    variants.push_back(
        {{"name", candidate.name}, {"parameters", candidate.parameters}, {"kernel", read.body}});
  }
  return variants;
}

ToolResult run(Jobs& jobs, const Library* library, const Json& arguments, CallContext& context) {
  std::vector<Violation> violations;
  const References references = references_of(jobs, library, context);
  auto candidates = variants_of(arguments);
  resolve_contracts(candidates, references, violations);
  auto expanded = expand(std::move(candidates), arguments.value("parameters", Json::object()));
  if (!expanded) {
    return refuse("/parameters", "more than " + std::to_string(kMostVariants) +
                                     " variants: fewer values, or several sweeps");
  }
  std::optional<contract::Contract> fallback;
  std::optional<ToolResult> unsupported;
  nlohmann::json request;
  request["variants"] = read_variants(*expanded, references, violations, fallback, unsupported);
  if (const auto reference = arguments.find("ref_kernel");
      reference != arguments.end() && !reference->is_null()) {
    request["ref_kernel"] = read_kernel(*reference, "/ref_kernel", fallback ? &*fallback : nullptr,
                                        violations, references)
                                .body;
  }
  if (!violations.empty()) return refuse(violations);
  if (unsupported) return std::move(*unsupported);
  if (auto refused = refuse_device(jobs, arguments.value("device", "auto"))) return *refused;
  if (auto refused = refuse_isolation(jobs, arguments)) return std::move(*refused);
  request["options"] = options_of(arguments);
  request["budget_s"] = arguments.value("budget_s", 60);
  return make_step_job(jobs, node::sweep_kind(), std::move(request), arguments, context);
}

}  // namespace

mcp::Tool sweep(Jobs& jobs, const Library* library) {
  return {.name = "sweep",
          .title = "Sweep variants and parameters",
          .description =
              "Tries variants × parameters of one kernel in one call: compiled in parallel, each "
              "judged against ref_kernel, timed in rounds of which the better half goes on, the "
              "last ones in alternating turns with the best. Returns one table, ranked, ties "
              "said, within budget_s. Every parameter is a macro (-DNAME=value) and a size of the "
              "contract, so that a launch can say \"ceildiv(n, TILE)\".",
          .annotations = {.read_only = false,
                          .destructive = false,
                          .idempotent = false,
                          .open_world = false},
          .input_schema = schema("sweep.input.json"),
          .output_schema = schema("steps_report.json"),
          .run = [&jobs, library](const Json& arguments, CallContext& context) {
            return run(jobs, library, arguments, context);
          }};
}

}  // namespace assay::tools
