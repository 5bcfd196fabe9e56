#include "tools/kernel_argument.h"

#include <algorithm>
#include <utility>

#include "engine/source/device_code.h"
#include "tools/compiler_options.h"
#include "tools/element.h"
#include "tools/metadata_keys.h"
#include "tools/set_aside.h"

namespace assay::tools {
namespace {

using contract::Contract;
using contract::Violation;
using mcp::Json;

constexpr std::size_t kMaxQuoted = 100;  // of an option in a message

void read_contract(const Json& argument, const std::string& pointer, const Contract* fallback,
                   const References& references, ContractNeed need, KernelArgument& out,
                   std::vector<Violation>& violations) {
  const std::string at = pointer + "/io";
  const auto io = argument.find("io");
  if (io == argument.end() || io->is_null()) {
    if (fallback != nullptr && !out.contract) {
      out.contract = *fallback;
      out.body["takes_kernels_io"] = true;
    }
  } else {
    const auto document = contract_document(*io, at, references, violations);
    if (!document) return;
    auto parsed = contract::parse(*document, at, {.open_grid = out.kernel_type == "triton"});
    if (auto* refused = std::get_if<contract::Refused>(&parsed)) {
      violations.insert(violations.end(), refused->violations.begin(), refused->violations.end());
      return;
    }
    auto& good = std::get<contract::Parsed>(parsed);
    out.contract = std::move(good.contract);
    out.warnings.insert(out.warnings.end(), good.warnings.begin(), good.warnings.end());
    const Json launch = document->value("launch", Json::object());
    // The manual's other place for it; metadata counts more.
    if (launch.is_object() && launch.contains("kernel_name") &&
        launch.at("kernel_name").is_string()) {
      out.body["kernel_name"] = launch.at("kernel_name");
    }
  }
  if (need == ContractNeed::as_the_type_says) {
    const auto missing =
        contract::requirements(out.kernel_type, out.contract ? &*out.contract : nullptr, at);
    violations.insert(violations.end(), missing.begin(), missing.end());
  }
  if (out.contract) out.body["contract"] = contract::to_json(*out.contract);
}

// The compiler takes each as a line of its own.
bool is_one_line(std::string_view text) {
  return text.find_first_not_of(' ') != std::string_view::npos &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' '; });
}

// What the earlier job was given counts where this call says nothing.
void inherit(const nlohmann::json& job_kernel, KernelArgument& out) {
  if (out.kernel_type.empty()) out.kernel_type = job_kernel.value("kernel_type", std::string());
  for (const char* key : {"kernel_name", "name_expressions", "compiler_options", "function_name",
                          "class_name", "method_name", "entry_point"}) {
    if (job_kernel.contains(key)) out.body[key] = job_kernel.at(key);
  }
  if (!job_kernel.contains("contract")) return;
  auto parsed =
      contract::parse(job_kernel.at("contract"), "", {.open_grid = out.kernel_type == "triton"});
  if (auto* good = std::get_if<contract::Parsed>(&parsed)) out.contract = std::move(good->contract);
}

std::optional<SourceText> source_of_job(const Json& job_id, const std::string& pointer,
                                        const References& references,
                                        std::vector<Violation>& violations) {
  const auto record = references.find_job ? references.find_job(job_id.get<std::string>())
                                          : std::optional<job::JobRecord>();
  if (!record) {
    violations.push_back({pointer, "no job of yours has this id"});
    return std::nullopt;
  }
  const auto kernel = record->request.find("kernel");
  if (kernel == record->request.end() || !kernel->contains("source")) {
    violations.push_back({pointer, "this job has no kernel source"});
    return std::nullopt;
  }
  return SourceText{.text = kernel->at("source"), .pointer = pointer, .job_kernel = *kernel};
}

std::optional<SourceText> source_of_file(const Json& path, const std::string& pointer,
                                         const References& references,
                                         std::vector<Violation>& violations) {
  if (references.library == nullptr) {
    violations.push_back({pointer, "this server reads no source files"});
    return std::nullopt;
  }
  auto read = references.library->files.read(path.get<std::string>());
  if (const auto* none = std::get_if<NoSourceFile>(&read)) {
    violations.push_back({pointer, none->reason});
    return std::nullopt;
  }
  return SourceText{.text = std::get<std::string>(std::move(read)), .pointer = pointer};
}

// "-D V=1" is one option to people, and -O3 is what NVRTC does anyway.
void read_options(const Json& metadata, const std::string& pointer, KernelArgument& out,
                  std::vector<Violation>& violations) {
  nlohmann::json taken = nlohmann::json::array();
  bool is_given = false;
  std::string allowed = "; allowed are" + allowed_options();  // said once
  // The old system's own documents spell it both ways.
  for (const char* key : {"compiler_options", "compile_options"}) {
    if (!metadata.contains(key)) continue;
    is_given = true;
    const Json& options = metadata.at(key);
    for (std::size_t i = 0; i < options.size(); ++i) {
      std::string option = options[i];
      const std::string at = pointer + key + "/" + std::to_string(i);
      if (option.starts_with("-D ") || option.starts_with("-U ")) {
        option.erase(2, option.find_first_not_of(' ', 2) - 2);
      }
      if (option.size() == 3 && option.starts_with("-O") && option[2] >= '0' && option[2] <= '3') {
        out.warnings.push_back({at, "'" + option + "' is ignored: NVRTC always optimises"});
      } else if (!is_allowed_option(option) || !is_one_line(option)) {
        violations.push_back({at, "'" + option.substr(0, kMaxQuoted) +
                                      "' is not an option that may be given to the compiler here" +
                                      std::exchange(allowed, std::string())});
      } else if (std::find(taken.begin(), taken.end(), option) == taken.end()) {
        taken.push_back(std::move(option));
      }
    }
  }
  if (is_given) out.body["compiler_options"] = std::move(taken);
}

void read_metadata(const Json& argument, const std::string& pointer, KernelArgument& out,
                   std::vector<Violation>& violations) {
  const auto metadata = argument.find("metadata");
  if (metadata == argument.end() || metadata->is_null()) return;
  check_metadata_keys(*metadata, out.kernel_type, pointer + "/metadata", violations, out.warnings);
  for (const char* key :
       {"kernel_name", "function_name", "class_name", "method_name", "entry_point"}) {
    if (metadata->contains(key)) out.body[key] = metadata->at(key);
  }
  if (metadata->contains("name_expressions")) {
    const Json& expressions = metadata->at("name_expressions");
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      const auto& text = expressions[i].get_ref<const std::string&>();
      if (is_one_line(text)) continue;
      violations.push_back({pointer + "/metadata/name_expressions/" + std::to_string(i),
                            "is no expression on one line, for example \"scale<float>\""});
    }
    out.body["name_expressions"] = expressions;
  } else if (const auto name = out.body.value("kernel_name", std::string());
             name.find('<') != name.npos && is_one_line(name)) {
    out.body["name_expressions"] = {name};  // an instance names itself
  }
  read_options(*metadata, pointer + "/metadata/", out, violations);
  for (const char* key : {"backend", "jitify"}) {
    const auto choice = metadata->find(key);
    if (choice == metadata->end() || *choice == "nvrtc" || *choice == false) continue;
    out.warnings.push_back(
        {pointer + "/metadata/" + key, "is ignored: every cuda source is compiled with NVRTC"});
  }
}

// What the contract says of each of the kernel's parameters.
source::ArgumentTypes argument_types(const std::optional<Contract>& contract) {
  source::ArgumentTypes types;
  if (!contract) return types;
  for (const auto& arg : contract->args) {
    if (arg.is_meta) continue;
    const auto dtype = arg.is_tensor() ? std::optional(arg.tensor_spec->dtype) : arg.c_type;
    types.push_back(dtype ? c_type_of(*dtype) : std::string());
  }
  return types;
}

// The instances that the file launches are compiled; what their launches do not tell is said.
void take_instances(const source::DeviceCode& code, const std::string& pointer,
                    KernelArgument& out) {
  if (out.body.contains("name_expressions")) return;
  nlohmann::json names = nlohmann::json::array();
  std::string launched;
  for (const auto& instance : code.instances) {
    std::string doubt;
    if (!instance.from_contract.empty()) {
      doubt = listed(instance.from_contract) + " is what the contract says of its parameter";
    } else if (!instance.assumed.empty()) {
      doubt = listed(instance.assumed) +
              " is assumed to be float: if that is wrong, name the instance in "
              "metadata.name_expressions";
    } else if (!instance.unknown.empty()) {
      doubt = listed(instance.unknown) +
              " must be a number: name the instance in metadata.name_expressions";
    }
    if (instance.unknown.empty()) names.push_back(instance.name);
    if (doubt.empty()) {
      launched += " " + instance.name;
    } else {
      out.warnings.push_back({pointer, "the launch of " + instance.name +
                                           " does not tell the template's argument: " + doubt});
    }
  }
  if (!launched.empty()) {
    out.warnings.push_back({pointer, "template instances taken from the launches:" + launched});
  }
  if (!names.empty()) out.body["name_expressions"] = std::move(names);
}

// A pasted file: its device code goes to the compiler, what was set aside is said.
void take_device_code(const std::string& text, const std::string& pointer, KernelArgument& out) {
  source::DeviceCode code = source::device_code(text, argument_types(out.contract));
  take_instances(code, pointer, out);
  // Before the caller's own, which win; an earlier job's already has them.
  nlohmann::json options = code.options;
  std::vector<std::string> dropped;
  for (const auto& flag : code.flags) {
    if (is_allowed_option(flag)) {
      options.push_back(flag);
    } else {
      dropped.push_back(flag);
    }
  }
  if (!dropped.empty()) {
    out.warnings.push_back(
        {pointer, "of the Python file's compile flags these are not taken: " + listed(dropped)});
  }
  for (const auto& option : out.body.value("compiler_options", nlohmann::json::array())) {
    if (std::find(options.begin(), options.end(), option) == options.end())
      options.push_back(option);
  }
  if (!options.empty()) out.body["compiler_options"] = std::move(options);
  for (const auto& doubt : code.doubts) out.warnings.push_back({pointer, doubt});
  if (!code.is_changed) return;
  if (auto words = set_aside(code); !words.empty()) {
    out.warnings.push_back({pointer, std::move(words)});
  }
  out.body["source"] = std::move(code.text);
}

}  // namespace

nlohmann::json warnings_json(const std::vector<Violation>& warnings) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& warning : warnings) {
    const bool is_metadata = warning.pointer.find("/metadata/") != std::string::npos;
    list.push_back({{"code", is_metadata ? "metadata" : "contract"},
                    {"message", warning.pointer + ": " + warning.message}});
  }
  return list;
}

std::optional<SourceText> read_source(const Json& argument, const std::string& pointer,
                                      const References& references,
                                      std::vector<Violation>& violations) {
  std::vector<std::string> given;
  for (const char* key : {"source_code", "source_file", "job_id"}) {
    if (argument.contains(key) && !argument.at(key).is_null()) given.emplace_back(key);
  }
  if (given.size() != 1) {
    if (given.empty())
      violations.push_back({pointer + "/source_code", "needs source_code, source_file or job_id"});
    else
      violations.push_back({pointer, "has more than one of source_code, source_file and job_id"});
    return std::nullopt;
  }
  const std::string at = pointer + "/" + given[0];
  const Json& value = argument.at(given[0]);
  auto source = given[0] == "job_id"        ? source_of_job(value, at, references, violations)
                : given[0] == "source_file" ? source_of_file(value, at, references, violations)
                                            : SourceText{.text = value, .pointer = at};
  if (!source) return std::nullopt;
  if (source->text.find_first_not_of(" \t\r\n") == std::string::npos) {
    violations.push_back({at, "is empty"});
  }
  if (source->text.size() > kMaxSourceBytes) {
    violations.push_back({at, "has " + std::to_string(source->text.size()) +
                                  " bytes; a source has " + std::to_string(kMaxSourceBytes) +
                                  " at most"});
  }
  if (source->text.find('\0') != std::string::npos) {
    violations.push_back({at, "holds a NUL character"});
  }
  return source;
}

std::optional<Json> contract_document(const Json& io, const std::string& pointer,
                                      const References& references,
                                      std::vector<Violation>& violations) {
  if (!io.is_string()) return io;
  const auto& name = io.get_ref<const std::string&>();
  if (references.library == nullptr || !StoredContracts::is_name(name)) {
    violations.push_back({pointer,
                          "is neither a contract, nor JSON text of one, nor the name of a "
                          "stored one"});
    return std::nullopt;
  }
  const StoredContracts contracts = references.library->contracts.of(references.principal);
  auto stored = contracts.load(name);
  if (!stored) {
    std::string known;
    for (const auto& each : contracts.names()) known += " " + each;
    violations.push_back(
        {pointer, "no contract is stored as '" + name + "'; stored are:" +
                      (known.empty() ? " none (build_io_contract with save_as)" : known)});
  }
  return stored;
}

KernelArgument read_kernel(const Json& argument, const std::string& pointer,
                           const Contract* fallback, std::vector<Violation>& violations,
                           const References& references, ContractNeed need) {
  KernelArgument out{.kernel_type = argument.value("kernel_type", std::string())};
  auto source = read_source(argument, pointer, references, violations);
  if (!source) return out;
  if (source->job_kernel) inherit(*source->job_kernel, out);
  if (out.kernel_type.empty()) {
    violations.push_back({pointer + "/kernel_type", "needs kernel_type"});
    return out;
  }
  out.body["source"] = source->text;
  out.given = std::move(source->text);
  out.body["kernel_type"] = out.kernel_type;
  read_contract(argument, pointer, fallback, references, need, out, violations);
  read_metadata(argument, pointer, out, violations);
  if (out.kernel_type == "multi_kernel" && need == ContractNeed::as_the_type_says &&
      out.body.value("entry_point", std::string()).empty()) {
    violations.push_back(
        {pointer + "/metadata/entry_point", "entry_point must be specified in metadata"});
  }
  if (out.kernel_type == "cuda") {
    take_device_code(out.given, source->pointer, out);
  }
  return out;
}

}  // namespace assay::tools
