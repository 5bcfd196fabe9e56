// sweep: variants × parameters of one kernel in one call, each verified, ranked with ties.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/node/sweep_job.h"
#include "tools/kernel_argument.h"
#include "tools/preconditions.h"
#include "tools/refusal.h"
#include "tools/same_task.h"
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

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

struct Candidate {
  Json kernel = Json::object();  // the argument, as evaluate takes it
  Json parameters = Json::object();
  std::string name{};
  std::string pointer{};    // where it stands in the call
  bool has_own_io = false;  // instead of the kernel's
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
      candidate.has_own_io = candidate.has_own_io || key == "io";
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

// Names stand in a table and in sentences: each is one line, and another's is no other's.
void refuse_names(const std::vector<Candidate>& candidates, std::vector<Violation>& violations) {
  std::map<std::string_view, std::string_view> known;
  for (const auto& candidate : candidates) {
    const bool is_one_line = std::none_of(candidate.name.begin(), candidate.name.end(), [](char c) {
      return static_cast<unsigned char>(c) < ' ' || c == '\x7f';
    });
    if (!is_one_line) {
      violations.push_back({candidate.pointer + "/name", "has a control character"});
    }
    const auto [other, is_new] = known.emplace(candidate.name, candidate.pointer);
    if (is_new) continue;
    violations.push_back({candidate.pointer + "/name",
                          "'" + candidate.name + "' is what " + std::string(other->second) +
                              " is called: nobody could tell them apart"});
  }
}

// Values that make the same macro make the same variant.
void refuse_values(const Json& parameters, std::vector<Violation>& violations) {
  for (const auto& [name, values] : parameters.items()) {
    std::set<std::string> known;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (known.insert(text_of(values[i])).second) continue;
      violations.push_back({"/parameters/" + name + "/" + std::to_string(i),
                            "is there already: each value makes variants of its own"});
    }
  }
}

// A macro of that name for the source, and a size of that name for the contract's expressions.
void define(Candidate& candidate, const std::string& name, const std::string& text,
            const Json& value) {
  Json& metadata = candidate.kernel["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  if (!metadata.contains("compiler_options")) metadata["compiler_options"] = Json::array();
  metadata["compiler_options"].push_back("-D" + name + "=" + text);
  Json& io = candidate.kernel["io"];
  if (!io.is_object() || !value.is_number_integer()) return;
  Json& sizes = io["sizes"];
  if (sizes.is_null() || sizes.is_object()) sizes[name] = value;  // others are refused when read
}

const char* argument_type(const Json& value) {
  return value.is_string() ? "str" : value.is_number_integer() ? "int" : "float";
}

// Of a Triton kernel: how it is launched, or an argument that its contract has or gets as a meta.
void specialise(Candidate& candidate, const std::string& name, const Json& value,
                std::vector<Violation>& violations) {
  Json& io = candidate.kernel["io"];
  if (!io.is_object()) {
    violations.push_back({candidate.pointer + "/io",
                          "parameters of a Triton kernel are put into its io: give it here"});
    return;
  }
  if (name == "num_warps" || name == "num_stages") {
    Json& launch = io["launch"];
    if (launch.is_null() || launch.is_object()) launch[name] = value;
    return;
  }
  if (io.contains("sizes") && io["sizes"].is_object() && io["sizes"].contains(name)) {
    io["sizes"][name] = value;
  }
  if (!io.contains("args") || !io["args"].is_array()) return;  // refused when it is read
  for (Json& arg : io["args"]) {
    if (!arg.is_object() || arg.value("name", Json()) != name) continue;
    arg["value"] = value;
    return;
  }
  io["args"].push_back(
      {{"name", name}, {"type", argument_type(value)}, {"value", value}, {"is_meta", true}});
}

void apply(Candidate& candidate, const std::string& name, const Json& value, bool is_triton,
           std::vector<Violation>& violations) {
  const std::string text = text_of(value);
  candidate.parameters[name] = value;
  candidate.name += " " + name + "=" + text;
  if (is_triton) {
    specialise(candidate, name, value, violations);
  } else {
    define(candidate, name, text, value);
  }
}

// The candidate's own, or that of the job whose kernel it is.
bool is_triton(const Candidate& candidate, const References& references) {
  const Json& kernel = candidate.kernel;
  if (kernel.contains("kernel_type")) return kernel.at("kernel_type") == "triton";
  if (!kernel.contains("job_id") || !kernel.at("job_id").is_string() || !references.find_job) {
    return false;
  }
  const auto record = references.find_job(kernel.at("job_id").get<std::string>());
  return record &&
         record->request.value("kernel", nlohmann::json::object()).value("kernel_type", "") ==
             "triton";
}

// Nothing if there would be too many.
std::optional<std::vector<Candidate>> expand(std::vector<Candidate> candidates,
                                             const Json& parameters, const References& references,
                                             std::vector<Violation>& violations) {
  for (const auto& [name, values] : parameters.items()) {
    std::vector<Candidate> next;
    if (candidates.size() * values.size() > kMostVariants) return std::nullopt;
    for (const auto& candidate : candidates) {
      const bool triton = is_triton(candidate, references);
      for (const auto& value : values) {
        next.push_back(candidate);
        apply(next.back(), name, value, triton, violations);
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

std::vector<KernelArgument> read_variants(const std::vector<Candidate>& candidates,
                                          const References& references,
                                          std::vector<Violation>& violations,
                                          std::optional<ToolResult>& unsupported) {
  std::vector<KernelArgument> variants;
  for (const auto& candidate : candidates) {
    variants.push_back(
        read_kernel(candidate.kernel, candidate.pointer, nullptr, violations, references));
    if (!unsupported) unsupported = unsupported_type("kernel", variants.back().kernel_type);
  }
  return variants;
}

// The task's contract, where the reference has none: the kernel's own rather than a variant's.
std::optional<contract::Contract> contract_of_task(const std::vector<Candidate>& candidates,
                                                   const std::vector<KernelArgument>& variants) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].has_own_io) return variants[i].contract;
  }
  return variants.empty() ? std::nullopt : variants.front().contract;
}

// No variant is held against the reference more loosely than the others.
std::vector<Violation> hold_variants(const Json& arguments,
                                     const std::vector<Candidate>& candidates,
                                     const contract::Contract& task,
                                     std::vector<KernelArgument>& variants) {
  std::vector<Violation> warnings;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!variants[i].contract) continue;
    const auto found = hold_to_reference(*variants[i].contract, candidates[i].pointer, task,
                                         asked_tolerance(arguments));
    if (found.empty()) continue;
    variants[i].body["contract"] = contract::to_json(*variants[i].contract);
    warnings.insert(warnings.end(), found.begin(), found.end());
  }
  return warnings;
}

// Of every kernel of the sweep.
void name_interpreter(const Json& arguments, nlohmann::json& request) {
  const auto python = arguments.find("python");
  if (python == arguments.end()) return;
  for (auto& variant : request["variants"]) variant["kernel"]["python"] = *python;
  if (request.contains("ref_kernel")) request["ref_kernel"]["python"] = *python;
}

ToolResult run(Jobs& jobs, const Library* library, const Json& arguments, CallContext& context) {
  std::vector<Violation> violations;
  const References references = references_of(jobs, library, context);
  auto candidates = variants_of(arguments);
  refuse_names(candidates, violations);
  refuse_values(arguments.value("parameters", Json::object()), violations);
  if (!violations.empty()) return refuse(violations);
  resolve_contracts(candidates, references, violations);
  auto expanded = expand(std::move(candidates), arguments.value("parameters", Json::object()),
                         references, violations);
  if (!expanded) {
    return refuse("/parameters", "more than " + std::to_string(kMostVariants) +
                                     " variants: fewer values, or several sweeps");
  }
  std::optional<ToolResult> unsupported;
  // The first place that lacks an io says it once.
  if (!violations.empty()) return refuse(violations.front().pointer, violations.front().message);
  nlohmann::json request;
  auto variants = read_variants(*expanded, references, violations, unsupported);
  auto task = contract_of_task(*expanded, variants);
  if (const auto reference = arguments.find("ref_kernel");
      reference != arguments.end() && !reference->is_null()) {
    KernelArgument read =
        read_kernel(*reference, "/ref_kernel", task ? &*task : nullptr, violations, references);
    request["ref_kernel"] = std::move(read.body);
    task = std::move(read.contract);
  }
  if (!violations.empty()) return refuse(violations);
  if (unsupported) return std::move(*unsupported);
  if (auto refused = refuse_device(jobs, arguments.value("device", "auto"))) return *refused;
  if (auto refused = refuse_python(jobs, arguments)) return *refused;
  if (auto refused = refuse_isolation(jobs, arguments)) return std::move(*refused);
  if (task)
    request["warnings"] = warnings_json(hold_variants(arguments, *expanded, *task, variants));
  request["variants"] = nlohmann::json::array();
  for (std::size_t i = 0; i < variants.size(); ++i) {
    request["variants"].push_back({{"name", (*expanded)[i].name},
                                   {"parameters", (*expanded)[i].parameters},
                                   {"kernel", std::move(variants[i].body)}});
  }
  name_interpreter(arguments, request);
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
