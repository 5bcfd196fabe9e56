// build_io_contract: from builder steps, from compact text, or inferred from a CUDA source, to a
// checked contract with an explanation and the bytes it takes. Nothing runs and nothing is
// compiled.
#include <algorithm>

#include "engine/contract/builder.h"
#include "engine/contract/compact.h"
#include "engine/contract/explanation.h"
#include "engine/source/cuda_text.h"
#include "mcp/utf8.h"
#include "tools/brief.h"
#include "tools/inferred_contract.h"
#include "tools/kernel_argument.h"
#include "tools/metadata_keys.h"
#include "tools/refusal.h"
#include "tools/schemas.h"
#include "tools/set_aside.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using contract::Violation;
using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

// What was asked for, before it is checked as a contract.
struct Draft {
  Json document = Json::object();
  std::string pointer{};      // of the argument it came from
  bool is_document = false;   // its own pointers lead into the argument
  std::string kernel_type{};  // whose demands count; "" for none
  std::vector<std::string> assumptions{};
  std::vector<Violation> warnings{};
  Json metadata = Json::object();
  std::string unsupported{};  // why there is none
};

Draft from_text(const Json& arguments, std::vector<Violation>& violations) {
  Draft draft{.pointer = "/text"};
  auto read = contract::from_compact(arguments.at("text").get_ref<const std::string&>());
  if (const auto* errors = std::get_if<std::vector<contract::CompactError>>(&read)) {
    for (const auto& error : *errors) {
      violations.push_back({"/text", "line " + std::to_string(error.line) + ": " + error.message});
    }
  } else {
    draft.document = std::get<Json>(std::move(read));
  }
  return draft;
}

Draft from_steps(const Json& arguments, std::vector<Violation>& violations) {
  Draft draft{.pointer = "/steps"};
  auto read = contract::from_steps(arguments.at("steps"), "/steps");
  if (auto* wrong = std::get_if<std::vector<Violation>>(&read)) {
    violations = std::move(*wrong);
  } else {
    draft.document = std::get<Json>(std::move(read));
  }
  return draft;
}

Draft from_io(const Json& arguments, const References& references,
              std::vector<Violation>& violations) {
  Draft draft{.pointer = "/io", .is_document = true};
  if (auto document = contract_document(arguments.at("io"), "/io", references, violations)) {
    draft.document = *std::move(document);
  }
  return draft;
}

Draft from_kernel(const Json& arguments, const References& references,
                  std::vector<Violation>& violations) {
  Draft draft{.pointer = "/kernel"};
  const Json& kernel = arguments.at("kernel");
  draft.kernel_type = kernel.value("kernel_type", std::string("cuda"));
  if (draft.kernel_type != "cuda") {
    draft.unsupported = "A contract is inferred from CUDA C++ only, not from kernel type '" +
                        draft.kernel_type + "': give `text` or `steps`.";
    return draft;
  }
  const auto source = read_source(kernel, "/kernel", references, violations);
  if (!source) return draft;
  std::string name;
  if (const auto metadata = kernel.find("metadata");
      metadata != kernel.end() && !metadata->is_null()) {
    check_metadata_keys(*metadata, draft.kernel_type, "/kernel/metadata", violations,
                        draft.warnings);
    name = metadata->value("kernel_name", std::string());
  }
  const auto sizes = arguments.value("sizes", std::map<std::string, std::int64_t>{});
  auto given = source::cuda_text(source->text);
  auto inferred = infer_contract(given.text, name, sizes);
  if (const auto* none = std::get_if<NotInferred>(&inferred)) {
    violations.push_back({source->pointer, none->reason});
    return draft;
  }
  auto& good = std::get<InferredContract>(inferred);
  for (const auto& size : sizes) {
    const auto& args = good.document.at("args");
    const bool is_scalar = std::any_of(args.begin(), args.end(), [&](const auto& arg) {
      return arg.at("name") == size.first && arg.at("type") == "int";
    });
    if (is_scalar) continue;
    violations.push_back({"/sizes/" + size.first, "the kernel has no int scalar of this name"});
  }
  if (auto words = set_aside(source::device_code(source->text)); !words.empty()) {
    draft.warnings.push_back({source->pointer, std::move(words)});
  }
  draft.document = std::move(good.document);
  draft.assumptions = std::move(given.doubts);
  draft.assumptions.insert(draft.assumptions.end(), good.assumptions.begin(),
                           good.assumptions.end());
  draft.metadata["kernel_name"] = good.instance.empty() ? good.kernel_name : good.instance;
  if (!good.instance.empty()) draft.metadata["name_expressions"] = Json::array({good.instance});
  return draft;
}

// Values of `sizes` put in the place of those the document has.
void replace_sizes(const Json& arguments, Draft& draft, std::vector<Violation>& violations) {
  const auto sizes = arguments.find("sizes");
  if (sizes == arguments.end() || draft.pointer == "/kernel") return;
  for (const auto& [name, value] : sizes->items()) {
    bool found = false;
    for (Json& arg : draft.document["args"]) {
      if (!arg.is_object() || arg.value("name", Json()) != name ||
          arg.value("type", Json()) != "int")
        continue;
      arg["value"] = value;
      found = true;
    }
    if (draft.document.contains("sizes") && draft.document["sizes"].contains(name)) {
      draft.document["sizes"][name] = value;
      found = true;
    }
    if (!found)
      violations.push_back(
          {"/sizes/" + name, "the contract has no int scalar and no size of this name"});
  }
}

// Pointers into a document that the caller never saw: the place goes into the message.
void relate(const Draft& draft, std::vector<Violation>& violations) {
  if (draft.is_document) return;
  for (Violation& violation : violations) {
    const std::string place = violation.pointer.substr(draft.pointer.size());
    violation.pointer = draft.pointer;
    if (!place.empty()) violation.message = "contract" + place + ": " + violation.message;
  }
}

// What the contract leaves to defaults is put in: a stored one says all that it means.
void complete(Json& document) {
  if (!document.contains("args") || !document["args"].is_array()) return;
  for (Json& arg : document["args"]) {
    if (arg.value("type", Json()) != "tensor" || arg.value("role", Json("input")) == "output")
      continue;
    Json& spec = arg["tensor_spec"];
    const auto has = [&](const char* key) { return spec.contains(key) && !spec[key].is_null(); };
    if (!has("init") && !has("data")) spec["init"] = {{"kind", "randn"}};
  }
  const auto launch = document.find("launch");
  if (launch == document.end() || !launch->is_object()) return;
  for (const char* key : {"grid", "block"}) {
    const auto extent = launch->find(key);
    if (extent == launch->end() || !extent->is_array()) continue;
    while (extent->size() < 3) extent->push_back(1);
  }
}

ToolResult unsupported(const std::string& reason) {
  return {.structured = {{"status", "success"}, {"verdict", "unsupported"}, {"summary", reason}},
          .text = "unsupported\n" + reason};
}

// Of a list that the structured half holds, what a reader of the text needs: the first two.
std::string first_lines(const char* what, const std::vector<std::string>& lines) {
  constexpr std::size_t kTold = 2;
  constexpr std::size_t kLineBytes = 300;
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kTold); ++i) {
    text += what + mcp::shortened(lines[i], kLineBytes);
    if (i + 1 == kTold && lines.size() > kTold)
      text += " (and " + std::to_string(lines.size() - kTold) + " more)";
    text += "\n";
  }
  return text;
}

ToolResult answer(const Draft& draft, const contract::Parsed& parsed, const Json& arguments,
                  const References& references) {
  OrderedJson out = {{"status", "success"}, {"io_contract", draft.document}};
  const auto lines = contract::explain(parsed.contract);
  out["explanation"] = lines;
  out["assumptions"] = draft.assumptions;
  out["bytes"] = contract::bytes_of(parsed.contract);
  out["text"] = contract::to_compact(draft.document);
  if (!draft.metadata.empty()) out["metadata"] = draft.metadata;
  auto warnings = parsed.warnings;
  relate(draft, warnings);
  warnings.insert(warnings.begin(), draft.warnings.begin(), draft.warnings.end());
  out["warnings"] = OrderedJson::array();
  std::vector<std::string> said;
  for (const auto& warning : warnings) {
    out["warnings"].push_back({{"pointer", warning.pointer}, {"message", warning.message}});
    said.push_back(warning.message);
  }
  std::string text = first_lines("", lines) + first_lines("assumed: ", draft.assumptions) +
                     first_lines("warning: ", said);
  text +=
      "tensors take " + contract::readable_bytes(out["bytes"]["total"].get<std::uint64_t>()) + "\n";
  if (arguments.contains("save_as")) {
    const std::string name = arguments.at("save_as");
    references.library->contracts.of(references.principal).save(name, draft.document);
    out["saved_as"] = name;
    text += "stored as " + name + "\n";
  }
  return {.structured = std::move(out), .text = std::move(text)};
}

Draft make_draft(const Json& arguments, const References& references,
                 std::vector<Violation>& violations) {
  if (arguments.contains("text")) return from_text(arguments, violations);
  if (arguments.contains("steps")) return from_steps(arguments, violations);
  if (arguments.contains("kernel")) return from_kernel(arguments, references, violations);
  return from_io(arguments, references, violations);
}

}  // namespace

ToolResult build_contract(const Json& arguments, const References& references) {
  std::size_t given = 0;
  for (const char* key : {"text", "steps", "kernel", "io"}) given += arguments.count(key);
  if (given != 1) return refuse("", "give exactly one of text, steps, kernel and io");
  if (arguments.contains("save_as") && references.library == nullptr) {
    return refuse("/save_as", "this server stores no contracts");
  }
  std::vector<Violation> violations;
  Draft draft = make_draft(arguments, references, violations);
  if (!draft.unsupported.empty()) return unsupported(draft.unsupported);
  if (violations.empty()) replace_sizes(arguments, draft, violations);
  if (!violations.empty()) return refuse(violations);
  const std::string kernel_type = arguments.value("kernel_type", draft.kernel_type);
  auto parsed =
      contract::parse(draft.document, draft.pointer, {.open_grid = kernel_type == "triton"});
  if (auto* refused = std::get_if<contract::Refused>(&parsed)) {
    relate(draft, refused->violations);
    return refuse(refused->violations);
  }
  const auto& good = std::get<contract::Parsed>(parsed);
  auto missing = contract::requirements(kernel_type, &good.contract, draft.pointer);
  relate(draft, missing);
  if (!missing.empty()) return refuse(missing);
  complete(draft.document);
  return answer(draft, good, arguments, references);
}

mcp::Tool build_io_contract(Jobs& jobs, const Library* library) {
  return {.name = "build_io_contract",
          .title = "Build an IO contract",
          .description =
              "Makes the `io` of a kernel from one of: `text` (compact, one line per argument), "
              "`steps` (IOContractBuilder calls), `kernel` (inferred from a CUDA source; what was "
              "guessed stands in `assumptions`), `io` (one to check). Returns the contract, an "
              "explanation line per argument and the bytes it takes. Nothing is run.",
          .annotations = {.read_only = false,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("build_io_contract.input.json"),
          .output_schema = schema("build_io_contract.json"),
          .run = [&jobs, library](const Json& arguments, CallContext& context) {
            ToolResult result = build_contract(arguments, references_of(jobs, library, context));
            if (arguments.value("detail", "short") == "short")
              make_contract_brief(result.structured);
            return result;
          }};
}

}  // namespace assay::tools
