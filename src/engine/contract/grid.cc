// Axes of a grid that a contract leaves open until a configuration of its kernel is chosen.
#include "engine/contract/contract.h"
#include "engine/contract/expression.h"
#include "engine/contract/launch_reading.h"

namespace assay::contract {
namespace {

std::map<std::string, std::int64_t> names_of(
    const Contract& contract, const std::map<std::string, std::int64_t>& configuration) {
  std::map<std::string, std::int64_t> names = contract.sizes;  // which win
  for (const Arg& arg : contract.args) {
    if (const auto* value = std::get_if<std::int64_t>(&arg.value)) names.emplace(arg.name, *value);
  }
  names.insert(configuration.begin(), configuration.end());
  return names;
}

}  // namespace

std::variant<std::optional<LaunchDim>, Violation> closed_grid(
    const Contract& contract, const std::map<std::string, std::int64_t>& configuration) {
  if (!contract.launch || !contract.launch->grid) return std::nullopt;
  LaunchDim grid = *contract.launch->grid;
  const auto names = names_of(contract, configuration);
  const auto lookup = [&](std::string_view name) -> ExpressionResult {
    const auto found = names.find(std::string(name));
    if (found != names.end()) return found->second;
    return ExpressionError{"no size, argument or meta is called " + in_quotes(name)};
  };
  std::uint32_t* const extents[] = {&grid.x, &grid.y, &grid.z};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const std::string& open = contract.launch->open_grid[i];
    if (open.empty()) continue;
    const std::string axis(kAxes[i]);
    const auto refuse = [&](const std::string& why) {
      return Violation{.pointer = "/launch/grid/" + axis, .message = "grid." + axis + why};
    };
    const ExpressionResult value = evaluate(open, lookup);
    if (const auto* error = std::get_if<ExpressionError>(&value)) {
      return refuse(": " + error->message);
    }
    const std::int64_t extent = std::get<std::int64_t>(value);
    if (extent < 1 || extent > kMostBlocks[i]) {
      return refuse(" must be between 1 and " + std::to_string(kMostBlocks[i]) + ", but is " +
                    open + " = " + std::to_string(extent));
    }
    *extents[i] = static_cast<std::uint32_t>(extent);
  }
  return grid;
}

}  // namespace assay::contract
