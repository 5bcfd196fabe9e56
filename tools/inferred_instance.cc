#include "tools/inferred_instance.h"

#include <algorithm>

#include "engine/contract/expression.h"
#include "tools/element.h"

namespace assay::tools {
namespace {

// A number that a template is given: a block's threads if that is what it counts.
std::string number_for(const std::string& name, const source::Usage& usage) {
  const bool is_flat = !usage.coordinates.contains("threadIdx.y");
  const bool counts_threads =
      std::any_of(usage.indexes.begin(), usage.indexes.end(),
                  [&](const source::ThreadIndex& index) { return index.block_extent == name; });
  return is_flat && (counts_threads || says(name, "block") || says(name, "thread")) ? "256" : "16";
}

std::optional<std::int64_t> as_number(const std::string& value) {
  const auto number = contract::evaluate(value, [](std::string_view) -> contract::ExpressionResult {
    return contract::ExpressionError{"a name"};
  });
  const auto* integer = std::get_if<std::int64_t>(&number);
  return integer == nullptr ? std::nullopt : std::optional(*integer);
}

}  // namespace

std::string InferredInstance::name(const source::Signature& signature) const {
  std::string text = signature.qualified_name;
  const char* separator = "<";
  for (const auto& argument : arguments) {
    text += separator + argument;
    separator = ", ";
  }
  return text + ">";
}

const std::string& InferredInstance::type(const std::string& spelled) const {
  const auto found = values.find(spelled);
  return found == values.end() ? spelled : found->second;
}

InferredInstance infer_instance(const source::Unit& unit, const source::Signature& signature,
                                const source::Usage& usage,
                                const std::optional<source::Launch>& launch,
                                const std::vector<source::Instance>& instances,
                                std::vector<std::string> wanted,
                                std::vector<std::string>& assumptions) {
  std::vector<source::TemplateArgument> launched;
  if (wanted.empty() && launch) launched = source::template_arguments(unit, signature, *launch);
  for (const auto& instance : instances) {
    if (wanted.empty() && launched.empty() && instance.qualified_name == signature.qualified_name) {
      wanted = instance.arguments;
    }
  }
  InferredInstance out;
  for (std::size_t i = 0; i < signature.template_parameters.size(); ++i) {
    const auto& parameter = signature.template_parameters[i];
    std::string value = i < launched.size() ? launched[i].text
                        : i < wanted.size() ? wanted[i]
                                            : parameter.default_value;
    // What a dispatch macro or the host's caller decides is no type here.
    if (value.empty()) {
      value = parameter.is_type() ? "float" : number_for(parameter.name, usage);
      assumptions.push_back("template parameter " + parameter.name + " is taken as " + value);
    }
    if (const auto number = as_number(value)) out.numbers[parameter.name] = *number;
    out.values[parameter.name] = value;
    out.arguments.push_back(std::move(value));
  }
  return out;
}

}  // namespace assay::tools
