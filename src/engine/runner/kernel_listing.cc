#include "engine/runner/kernel_listing.h"

#include "engine/inspection/inspection.h"
#include "engine/runner/kernel_choice.h"
#include "engine/runner/signature.h"

namespace assay::runner {
namespace {

using nlohmann::json;

json describe(const ResourceUsage& usage) {
  return {{"registers", usage.registers},
          {"stack_bytes", usage.stack_bytes},
          {"spill_store_bytes", usage.spill_store_bytes},
          {"spill_load_bytes", usage.spill_load_bytes},
          {"static_shared_bytes", usage.static_shared_bytes},
          {"constant_bytes", usage.constant_bytes},
          {"module_constant_bytes", usage.module_constant_bytes},
          {"barriers", usage.barriers}};
}

json describe(const DeclaredArgument& argument) {
  json out = {{"name", argument.name},
              {"type", argument.type.empty() ? json(nullptr) : json(argument.type)},
              {"ptx_type", argument.ptx_type},
              {"bytes", argument.size_bytes},
              {"pointer", argument.is_pointer}};
  if (argument.is_pointer) out["read_only"] = argument.is_read_only;
  return out;
}

// "add(float const* a, int n)": types as the compiler has them, names as the author has.
std::string signature(const emulator::KernelInfo& kernel,
                      const std::vector<DeclaredArgument>& arguments) {
  std::string text = base_name(kernel.name) + "(";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& argument = arguments[i];
    if (i > 0) text += ", ";
    text += (argument.type.empty() ? "." + argument.ptx_type : argument.type) + " " + argument.name;
  }
  return text + ")";
}

json describe(const emulator::KernelInfo& kernel, std::string_view source) {
  const auto list = arguments(kernel, source);
  json out = {{"name", base_name(kernel.name)},
              {"symbol", kernel.name},
              {"signature", signature(kernel, list)},
              {"arguments", json::array()},
              {"parameter_bytes", kernel.parameter_bytes},
              {"static_shared_bytes", kernel.static_shared_bytes},
              {"max_threads", kernel.max_threads}};
  for (const auto& argument : list) out["arguments"].push_back(describe(argument));
  if (!kernel.unsupported_instruction.empty()) {
    out["unsupported"] = inspection::describe_place(kernel.unsupported_where);
    out["unsupported"]["instruction"] = kernel.unsupported_instruction;
    out["unsupported"]["ptx_line"] = kernel.unsupported_ptx_line;
  }
  return out;
}

json unreadable(const std::map<std::string, ResourceUsage>& usage,
                const emulator::ParseError& error) {
  json list = json::array();
  for (const auto& [symbol, needs] : usage) {
    list.push_back({{"name", base_name(symbol)},
                    {"symbol", symbol},
                    {"signature", display_name(symbol)},
                    {"arguments", json::array()},
                    {"resources", describe(needs)},
                    {"unsupported",
                     {{"instruction", error.message}, {"ptx_line", error.ptx_line}, {"line", 0}}}});
  }
  return list;
}

}  // namespace

KernelListing list_kernels(std::string_view ptx, std::string_view source,
                           const std::map<std::string, ResourceUsage>& usage) {
  const auto parsed = emulator::Module::parse(ptx);
  if (const auto* error = std::get_if<emulator::ParseError>(&parsed)) {
    return {.kernels = unreadable(usage, *error)};
  }
  KernelListing listing;
  std::size_t bytes = 0;
  for (const auto& kernel : std::get<std::shared_ptr<const emulator::Module>>(parsed)->kernels()) {
    json one = describe(kernel, source);
    const auto found = usage.find(kernel.name);
    if (found != usage.end()) one["resources"] = describe(found->second);
    bytes += one.dump(-1, ' ', false, json::error_handler_t::replace).size();
    listing.truncated = bytes > kMaxListingBytes;
    if (listing.truncated) break;
    listing.kernels.push_back(std::move(one));
  }
  return listing;
}

}  // namespace assay::runner
