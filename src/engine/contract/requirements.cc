// What each kernel type demands of a contract, in the words of the manual where it has some.
#include "engine/contract/contract.h"

namespace assay::contract {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  for (const std::string_view each : list) {
    if (each == text) return true;
  }
  return false;
}

std::string missing_contract(std::string_view kernel_type) {
  if (kernel_type == "triton") {
    return "IOContract is required for Triton kernel compilation. Please provide input/output "
           "specifications via IOContract.";
  }
  if (kernel_type == "multi_kernel") {
    return "IOContract is required for multi-kernel sequences. Please provide input/output "
           "specifications.";
  }
  return "IOContract is required for CUDA kernel compilation. Please provide input/output "
         "specifications via IOContract.";
}

}  // namespace

std::vector<Violation> requirements(std::string_view kernel_type, const Contract* contract,
                                    std::string_view base_pointer) {
  std::vector<Violation> violations;
  const std::string base(base_pointer);
  auto demand = [&](bool given, const std::string& pointer, std::string message) {
    if (!given) violations.push_back({.pointer = base + pointer, .message = std::move(message)});
    return given;
  };
  if (contract != nullptr &&
      is_one_of(kernel_type, {"torch", "torch_cuda", "triton", "multi_kernel"})) {
    for (std::size_t i = 0; i < contract->args.size(); ++i) {
      demand(!contract->args[i].texture, "/args/" + std::to_string(i) + "/texture",
             "'" + contract->args[i].name + "': only a cuda kernel takes a texture");
    }
  }
  if (!is_one_of(kernel_type, {"cuda", "triton", "multi_kernel"})) return violations;
  if (!demand(contract != nullptr, "", missing_contract(kernel_type))) return violations;

  const std::string type(kernel_type);
  if (is_one_of(kernel_type, {"cuda", "triton"})) {
    const bool has_launch =
        demand(contract->launch.has_value(), "", "launch is required for " + type + " kernels");
    if (has_launch) {
      demand(contract->launch->grid.has_value(), "/launch",
             "launch.grid is required for " + type + " kernels");
      demand(kernel_type != "cuda" || contract->launch->block, "/launch",
             "launch.block is required for cuda kernels");
    }
  }
  if (kernel_type == "cuda") {
    for (std::size_t i = 0; i < contract->args.size(); ++i) {
      const Arg& arg = contract->args[i];
      const std::string pointer = "/args/" + std::to_string(i);
      demand(
          !arg.is_meta, pointer + "/is_meta",
          "'" + arg.name + "': a cuda kernel has no meta parameters; pass it as a plain argument");
      demand(arg.type != ArgType::text, pointer + "/type",
             "'" + arg.name + "': a cuda kernel takes no text");
    }
  }
  return violations;
}

}  // namespace assay::contract
