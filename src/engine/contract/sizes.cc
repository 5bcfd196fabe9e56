#include "engine/contract/sizes.h"

#include <cmath>
#include <limits>
#include <vector>

namespace assay::contract {
namespace {

constexpr std::size_t kMaxSizes = 256;
constexpr std::size_t kMaxChain = 32;  // of names that refer to names
constexpr std::int64_t kStandIn = 64;  // for a name without a value, where only the form counts

}  // namespace

std::optional<std::int64_t> whole_number(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return {};
  const double number = value.get<double>();
  if (!(std::fabs(number) < 0x1p63) || number != std::trunc(number)) return {};
  return static_cast<std::int64_t>(number);
}

// An int scalar with a value is a size by its name.
void Sizes::define_by(const nlohmann::json& arg) {
  if (!arg.is_object()) return;
  const auto name = arg.find("name");
  const auto type = arg.find("type");
  const auto value = arg.find("value");
  if (name == arg.end() || type == arg.end() || value == arg.end()) return;
  if (!name->is_string() || *type != "int" || value->is_null()) return;
  definitions_.emplace(name->get<std::string>(), &*value);
}

Sizes::Sizes(const Node& contract, Notes& notes) {
  if (const auto args = contract.member("args"); args && args->json->is_array()) {
    for (const nlohmann::json& arg : *args->json) define_by(arg);
  }
  const auto sizes = contract.member("sizes");
  if (!sizes || !expect_object(*sizes, "sizes", notes)) return;
  if (sizes->json->size() > kMaxSizes) {
    notes.violate(sizes->pointer, "sizes has more than " + std::to_string(kMaxSizes) + " names");
    return;
  }
  for (const auto& [name, value] : sizes->json->items()) {
    if (!is_name(name) || name == "ceildiv") {
      notes.violate(sizes->child_pointer(name),
                    in_quotes(name) + " is no name for a size: letters, digits and _ are");
      continue;
    }
    definitions_.insert_or_assign(name, &value);
  }
  for (const auto& [name, value] : sizes->json->items()) {
    if (!definitions_.contains(name)) continue;
    const Node node{.json = &value, .pointer = sizes->child_pointer(name)};
    if (const auto number = resolve(node, "size " + in_quotes(name), notes))
      named_.emplace(name, *number);
  }
}

std::map<std::string, std::int64_t> Sizes::named() { return named_; }

std::optional<std::int64_t> Sizes::resolve(const Node& node, std::string_view what, Notes& notes) {
  if (const auto number = whole_number(*node.json)) return number;
  if (!node.json->is_string()) {
    notes.violate(node.pointer, std::string(what) +
                                    " must be an integer or an expression of sizes, not " +
                                    brief(*node.json));
    return std::nullopt;
  }
  const ExpressionResult result = value_of(*node.json);
  if (const auto* error = std::get_if<ExpressionError>(&result)) {
    notes.violate(node.pointer, std::string(what) + ": " + error->message);
    return std::nullopt;
  }
  return std::get<std::int64_t>(result);
}

bool Sizes::leaves_open(const Node& node) {
  if (!node.json->is_string()) return false;
  bool is_open = false;
  const auto value = evaluate(node.json->get_ref<const std::string&>(),
                              [&](std::string_view name) -> ExpressionResult {
                                if (definitions_.contains(name)) return value_of(name);
                                is_open = true;
                                return kStandIn;
                              });
  return is_open && std::holds_alternative<std::int64_t>(value);
}

ExpressionResult Sizes::value_of(const nlohmann::json& definition) {
  if (const auto number = whole_number(definition)) return *number;
  if (!definition.is_string()) return ExpressionError{brief(definition) + " is not an integer"};
  return evaluate(definition.get_ref<const std::string&>(),
                  [this](std::string_view name) { return value_of(name); });
}

ExpressionResult Sizes::value_of(std::string_view name) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  const auto definition = definitions_.find(name);
  if (definition == definitions_.end()) {
    return ExpressionError{"unknown size " + in_quotes(name) +
                           " (name it in sizes, or as an argument of type int)"};
  }
  if (in_progress_.contains(name))
    return ExpressionError{in_quotes(name) + " is defined by itself"};
  if (in_progress_.size() >= kMaxChain) return ExpressionError{"too long a chain of names"};
  in_progress_.emplace(name);
  ExpressionResult result = value_of(*definition->second);
  in_progress_.erase(in_progress_.find(name));
  known_.emplace(name, result);
  return result;
}

}  // namespace assay::contract
