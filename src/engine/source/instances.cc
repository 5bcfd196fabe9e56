#include "engine/source/instances.h"

#include <algorithm>
#include <array>

#include "engine/source/launch.h"
#include "engine/source/parameter.h"
#include "engine/source/signature.h"

namespace assay::source {
namespace {

bool defines_type(const Unit& unit, std::string_view name) {
  for (std::size_t i = 1; i < unit.tokens.size(); ++i) {
    const Token& before = unit.tokens[i - 1];
    if (unit.tokens[i].is(name) && (before.is("struct") || before.is("class"))) return true;
  }
  return false;
}

// The type of Square{} or Square(2.0f), handed to a parameter whose type is the template's own; ""
// if that does not tell.
std::string deduced_argument(const Unit& unit, const Signature& signature, const Launch& launch,
                             const std::string& name) {
  for (std::size_t i = 0; i < std::min(signature.parameters.size(), launch.arguments.size()); ++i) {
    const Parameter& parameter = signature.parameters[i];
    const Tokens tokens = lex(launch.arguments[i]);
    const bool is_made = parameter.type == name && !parameter.is_pointer() && tokens.size() > 2 &&
                         (tokens[1].is("{") || tokens[1].is("("));
    if (is_made && defines_type(unit, tokens[0].text)) return std::string(tokens[0].text);
  }
  return {};
}

// Whether a template argument means something outside of the host function it stands in.
bool is_known_argument(const Unit& unit, const std::string& argument, bool is_type) {
  const Tokens tokens = lex(argument);
  return !tokens.empty() && std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    if (token.kind != TokenKind::identifier) return true;
    static constexpr std::array<std::string_view, 14> kTypes{
        "__half", "half", "__half2", "half2", "__nv_bfloat16", "nv_bfloat16", "float2",
        "float4", "int4", "true",    "false", "int32_t",       "int64_t",     "uint8_t"};
    return std::find(kTypes.begin(), kTypes.end(), token.text) != kTypes.end() ||
           (is_type && (is_type_word(token.text) || defines_type(unit, token.text)));
  });
}

// "scale<float, 256>" for a launch of a template; nothing where a number is not known.
std::string instance_of(const Unit& unit, const Signature& signature, const Launch& launch) {
  std::string text = signature.qualified_name;
  const char* separator = "<";
  for (std::size_t i = 0; i < signature.template_parameters.size(); ++i) {
    const auto& parameter = signature.template_parameters[i];
    std::string argument = i < launch.template_arguments.size() ? launch.template_arguments[i] : "";
    if (const auto value = launch.values.find(argument); value != launch.values.end()) {
      argument = value->second;
    }
    if (argument.empty()) argument = deduced_argument(unit, signature, launch, parameter.name);
    if (argument.empty() || !is_known_argument(unit, argument, parameter.is_type())) {
      if (!parameter.is_type() && argument.empty() && !parameter.default_value.empty()) break;
      if (!parameter.is_type()) return {};
      argument = "float";
    }
    text += separator + argument;
    separator = ", ";
  }
  return *separator == ',' ? text + ">" : text;
}

}  // namespace

std::vector<std::string> launched_instances(std::string_view source) {
  const Unit unit = preprocess(source);
  std::vector<std::string> list;
  const auto kernels = find_kernels(unit).kernels;
  for (const Launch& launch : find_launches(unit)) {
    for (const Kernel& kernel : kernels) {
      const Signature& signature = kernel.signature;
      const bool is_meant =
          signature.qualified_name == launch.kernel || signature.name == launch.kernel;
      if (!is_meant || !signature.is_template()) continue;
      std::string instance = instance_of(unit, signature, launch);
      if (!instance.empty() && std::find(list.begin(), list.end(), instance) == list.end()) {
        list.push_back(std::move(instance));
      }
    }
  }
  return list;
}

}  // namespace assay::source
