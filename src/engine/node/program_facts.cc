#include "engine/node/program_facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "engine/node/contract_skeleton.h"
#include "engine/node/occupancy.h"
#include "engine/source/nearest_name.h"
#include "engine/source/signature.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr unsigned kAssumedBlock = 256;
constexpr unsigned kMaxBlock = 1024;

// 90 of "sm_90a", 0 of a virtual target.
int real_arch(const std::string& arch) {
  if (!arch.starts_with("sm_")) return 0;
  int number = 0;
  std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

json occupancy_of(const json& kernel, const json& resources, const Listing& listing) {
  const int arch = real_arch(listing.arch);
  const auto limits = multiprocessor_limits(arch);
  if (!limits) return {{"unknown", "the limits of " + listing.arch + " are not documented"}};
  const auto bound = kernel.value("max_threads", 0U);
  const bool assumed = listing.block_threads == 0;
  unsigned block = listing.block_threads;
  if (assumed) block = bound > 0 && bound < kAssumedBlock ? bound : kAssumedBlock;
  block = std::clamp(block, 1U, kMaxBlock);
  const Occupancy found =
      occupancy(*limits, {.threads = block,
                          .registers_per_thread = resources.at("registers").get<unsigned>(),
                          .shared_bytes = resources.at("static_shared_bytes").get<std::uint64_t>() +
                                          listing.dynamic_shared_bytes});
  json limited = json::array();
  for (const Limiter limiter : found.limited_by) limited.push_back(name(limiter));
  return {{"block_threads", block},
          {"block_assumed", assumed},
          {"dynamic_shared_bytes", listing.dynamic_shared_bytes},
          {"blocks_per_multiprocessor", found.blocks},
          {"warps_per_multiprocessor", found.warps},
          {"max_warps_per_multiprocessor", found.max_warps},
          {"percent", std::round(found.percent() * 10) / 10},
          {"limited_by", std::move(limited)}};
}

// What one kernel needs of the hardware, flat, as people ask for it.
void tell_resources(json& out, const json& kernel, const Listing& listing) {
  if (!kernel.contains("resources")) {
    for (const char* key : {"registers", "occupancy"}) out[key] = nullptr;
    out["resources_missing"] =
        real_arch(listing.arch) == 0
            ? listing.arch + " is a virtual target; a real one (sm_…) has registers and occupancy"
            : "registers and occupancy are the assembler's to say, and none has read this PTX";
    out["static_shared_bytes"] = kernel.value("static_shared_bytes", std::uint64_t{0});
    return;
  }
  const json& resources = kernel.at("resources");
  for (const char* key :
       {"registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes", "static_shared_bytes",
        "constant_bytes", "module_constant_bytes", "barriers"}) {
    out[key] = resources.at(key).get<std::uint64_t>();
  }
  out["occupancy"] = occupancy_of(kernel, resources, listing);
}

// As the compile runner writes it: types as the compiler has them, names as the author has.
std::string signature_of(const json& kernel) {
  std::string text = kernel.at("name").get<std::string>() + "(";
  const char* separator = "";
  for (const auto& argument : kernel.at("arguments")) {
    const json& type = argument.at("type");
    text += separator;
    text += type.is_string() ? type.get<std::string>()
                             : "." + argument.at("ptx_type").get<std::string>();
    text += " " + argument.at("name").get<std::string>();
    separator = ", ";
  }
  return text + ")";
}

// The compile runner finds no name behind a macro; reading the source does.
void name_parameters(json& kernel, const std::vector<source::Signature>& signatures) {
  json& arguments = kernel.at("arguments");
  const auto full = kernel.at("name").get<std::string>();
  const std::string name = full.substr(0, full.find('<'));
  const auto found = std::find_if(signatures.begin(), signatures.end(), [&](const auto& one) {
    return one.qualified_name == name && one.parameters.size() == arguments.size();
  });
  if (found == signatures.end()) return;
  bool is_changed = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& author_name = found->parameters[i].name;
    if (arguments[i].at("name") != "arg_" + std::to_string(i) || author_name.empty()) continue;
    arguments[i]["name"] = author_name;
    is_changed = true;
  }
  if (is_changed) kernel["signature"] = signature_of(kernel);
}

// Triton's PTX has no names: they are those of what the contract passes.
void name_parameters(json& kernel, const contract::Contract& called, const std::string& name) {
  json& arguments = kernel.at("arguments");
  std::size_t next = 0;
  for (const auto& arg : called.args) {
    if (arg.is_meta || next == arguments.size()) continue;
    arguments[next++]["name"] = arg.name;
  }
  kernel["name"] = name;
  kernel["signature"] = signature_of(kernel);
}

json tell_argument(const json& argument) {
  json out = {{"name", argument.at("name").get<std::string>()},
              {"type", argument.at("type")},
              {"bytes", argument.at("bytes").get<std::uint64_t>()}};
  if (argument.at("type").is_null()) out["ptx_type"] = argument.at("ptx_type");
  return out;
}

json tell_kernel(const json& kernel, const Listing& listing) {
  json out = {{"name", kernel.at("name").get<std::string>()},
              {"symbol", kernel.at("symbol").get<std::string>()},
              {"signature", kernel.at("signature").get<std::string>()},
              {"args", json::array()}};
  for (const auto& argument : kernel.at("arguments")) {
    out["args"].push_back(tell_argument(argument));
  }
  if (const auto bound = kernel.value("max_threads", 0U); bound > 0) out["max_threads"] = bound;
  tell_resources(out, kernel, listing);
  const bool executable = !kernel.contains("unsupported");
  out["runs_on"] = executable ? json::array({"emulator"}) : json::array();
  out["unsupported"] = executable ? json(nullptr) : kernel.at("unsupported");
  return out;
}

std::size_t count(const json& diagnostics, const char* severity) {
  return static_cast<std::size_t>(
      std::count_if(diagnostics.begin(), diagnostics.end(),
                    [&](const json& one) { return one.at("severity") == severity; }));
}

std::string kernel_sentence(const json& kernel) {
  std::string text = " " + kernel.at("name").get<std::string>() + ": ";
  if (kernel.at("registers").is_null()) {
    return text + kernel.at("resources_missing").get<std::string>() + ".";
  }
  text += kernel.at("registers").dump() + " registers";
  const auto spills = kernel.at("spill_store_bytes").get<std::uint64_t>() +
                      kernel.at("spill_load_bytes").get<std::uint64_t>();
  if (spills > 0) text += ", spills";
  const json& occupancy = kernel.at("occupancy");
  if (occupancy.contains("percent")) {
    text += ", occupancy " + occupancy.at("percent").dump() + " % at " +
            occupancy.at("block_threads").dump() + " threads per block (limited by";
    for (const auto& limiter : occupancy.at("limited_by")) text += " " + limiter.get<std::string>();
    text += ")";
  }
  return text + ".";
}

// evaluate would refuse this name: better said now.
std::string missing_sentence(const json& kernels, const std::string& wanted) {
  std::string names;
  std::vector<std::string> each;
  for (const auto& kernel : kernels) {
    const auto name = kernel.at("name").get<std::string>();
    if (wanted == name || wanted == kernel.at("symbol").get<std::string>() ||
        wanted == name.substr(0, name.find('<')))
      return {};
    names += (names.empty() ? "" : ", ") + name;
    each.push_back(name);
  }
  if (wanted.empty()) return {};
  return " Kernel '" + wanted + "' not found. Available: [" + names + "]" +
         source::nearest_name(wanted, each);
}

}  // namespace

json tell_program(const Program& program, const KernelSource& source, const Listing& listing) {
  const auto signatures = source::signatures(source.source);
  json listed = program.kernels;
  json kernels = json::array();
  Listing launched = listing;
  if (program.called && program.called->launch) {
    const auto& launch = *program.called->launch;
    if (launch.block) launched.block_threads = static_cast<unsigned>(launch.block->x);
    launched.dynamic_shared_bytes = launch.shared_mem_bytes.value_or(0);
  }
  for (json& kernel : listed) {
    if (program.called) {
      name_parameters(kernel, *program.called, program.configuration.at("kernel"));
    } else {
      name_parameters(kernel, signatures);
    }
    kernels.push_back(tell_kernel(kernel, launched));
  }
  json told = {
      {"compiler", program.compiler},
      {"compile_ms", program.elapsed_ms},
      {"cached", program.cached},
      {"ptx_bytes", program.ptx.size()},
      {"diagnostics", program.diagnostics},
      {"diagnostics_truncated", program.diagnostics_truncated},
      {"kernels", std::move(kernels)},
      {"kernels_truncated", program.kernels_truncated},
      {"contract",
       program.called ? json(nullptr) : contract_draft(listed, source.kernel_name, listing.draft)}};
  if (!program.configuration.is_null()) told["configuration"] = program.configuration;
  return told;
}

std::string summary_of(const json& told, const std::string& wanted) {
  const json& kernels = told.at("kernels");
  const auto warnings = count(told.at("diagnostics"), "warning");
  std::string text = "Compiled for " + told.at("arch").get<std::string>();
  if (warnings > 0) {
    text += " with " + std::to_string(warnings) + (warnings == 1 ? " warning" : " warnings");
  }
  text += ".";
  if (kernels.empty()) {
    return text +
           " No kernels found in source: it needs a `__global__` function, and a template is "
           "compiled only where metadata.name_expressions names an instance, for example "
           "\"scale<float>\".";
  }
  constexpr std::size_t kTold = 3;
  for (std::size_t i = 0; i < std::min(kernels.size(), kTold); ++i) {
    text += kernel_sentence(kernels[i]);
  }
  if (kernels.size() > kTold) {
    text += " And " + std::to_string(kernels.size() - kTold) + " more.";
  }
  return text + missing_sentence(kernels, wanted);
}

}  // namespace assay::node
