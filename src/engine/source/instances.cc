#include "engine/source/instances.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/source/host_scope.h"
#include "engine/source/parameter.h"

namespace assay::source {
namespace {

using Origin = TemplateArgument::Origin;

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxText = 200;

// Types and values that the compiler knows without the file.
bool is_builtin(std::string_view word) {
  static constexpr std::array<std::string_view, 25> kWords{
      "__half",  "half",    "__half2", "half2",   "__nv_bfloat16", "nv_bfloat16", "size_t",
      "float2",  "float4",  "double2", "int2",    "int4",          "uint4",       "int8_t",
      "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t",      "uint32_t",    "uint64_t",
      "uint",    "true",    "false",   "sizeof"};
  return is_type_word(word) || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// ADD and MUL of the enum whose name or '{' is at `at`.
void add_enumerators(const Tokens& tokens, std::size_t at, std::set<std::string_view>& names) {
  while (at < tokens.size() && !tokens[at].is("{") && !tokens[at].is(";")) ++at;
  if (at >= tokens.size() || !tokens[at].is("{")) return;
  const std::size_t close = closing(tokens, at, tokens.size());
  for (const Range part : split_at_commas(tokens, at + 1, std::min(close, tokens.size()))) {
    if (part.begin < part.end) names.insert(tokens[part.begin].text);
  }
}

// What the file itself names for host and device alike: types, namespaces and enumerators.
std::set<std::string_view> defined_names(const Tokens& tokens) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool is_enum = tokens[i].is("enum");
    const bool is_type = is_enum || tokens[i].is("struct") || tokens[i].is("class");
    if (!is_type && !tokens[i].is("namespace")) continue;
    // template <class T> defines none.
    if (i > 0 && (tokens[i - 1].is("<") || tokens[i - 1].is(","))) continue;
    std::size_t at = i + 1;
    if (is_enum && (tokens[at].is("class") || tokens[at].is("struct"))) ++at;
    if (at >= tokens.size()) break;
    if (tokens[at].kind == TokenKind::identifier) names.insert(tokens[at].text);
    if (is_enum) add_enumerators(tokens, at, names);
  }
  return names;
}

// torch's names of CUDA's types; a host's std:: before what the compiler knows by itself.
std::string on_device(std::string type) {
  if (type == "at::Half" || type == "c10::Half" || type == "torch::Half") return "__half";
  if (type == "at::BFloat16" || type == "c10::BFloat16" || type == "torch::BFloat16") {
    return "__nv_bfloat16";
  }
  if (type.starts_with("std::") && is_builtin(std::string_view(type).substr(5))) {
    return type.substr(5);
  }
  return type;
}

// The same for types that are the same.
std::string plain_type(const std::string& type) {
  using Pair = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Pair, 19> kSame{{{"half", "__half"},
                                               {"nv_bfloat16", "__nv_bfloat16"},
                                               {"int8_t", "signed char"},
                                               {"char", "signed char"},
                                               {"uint8_t", "unsigned char"},
                                               {"int16_t", "short"},
                                               {"uint16_t", "unsigned short"},
                                               {"int32_t", "int"},
                                               {"uint32_t", "unsigned int"},
                                               {"unsigned", "unsigned int"},
                                               {"uint", "unsigned int"},
                                               {"int64_t", "long long"},
                                               {"long", "long long"},
                                               {"long int", "long long"},
                                               {"long long int", "long long"},
                                               {"uint64_t", "unsigned long long"},
                                               {"size_t", "unsigned long long"},
                                               {"unsigned long", "unsigned long long"},
                                               {"signed int", "int"}}};
  const auto found = std::find_if(kSame.begin(), kSame.end(),
                                  [&](const Pair& pair) { return pair.first == type; });
  return found == kSame.end() ? type : std::string(found->second);
}

// What all launches of a file share.
struct File {
  explicit File(const Unit& all)
      : unit(all), partners(pair_brackets(all.tokens)), names(defined_names(all.tokens)) {}
  const Unit& unit;
  std::vector<std::size_t> partners;
  std::set<std::string_view> names;
};

class Arguments {
 public:
  Arguments(const File& file, const Signature& signature, const Launch& launch,
            const ArgumentTypes& contract)
      : signature_(signature),
        launch_(launch),
        contract_(contract),
        names_(file.names),
        scope_(file.unit, file.partners, launch.at) {}

  std::vector<TemplateArgument> run() const {
    std::vector<TemplateArgument> list;
    for (std::size_t i = 0; i < signature_.template_parameters.size(); ++i) {
      list.push_back(argument(signature_.template_parameters[i], i));
    }
    return list;
  }

 private:
  [[nodiscard]] TemplateArgument argument(const TemplateParameter& parameter, std::size_t i) const {
    const bool is_written = i < launch_.template_arguments.size();
    std::string text = is_written ? known(launch_.template_arguments[i], parameter.is_type())
                                  : deduced(parameter.name);
    if (!text.empty()) return {Origin::launch, std::move(text)};
    if (parameter.is_type()) {
      text = from_contract(parameter.name);
      if (!text.empty() && (is_written || parameter.default_value.empty())) {
        return {Origin::contract, std::move(text)};
      }
    }
    if (!is_written && !parameter.default_value.empty()) {
      return {Origin::standard, parameter.default_value};
    }
    return {};
  }

  // The text if it means something outside of the host function it stands in, else "".
  [[nodiscard]] std::string if_known(const std::string& text) const {
    const Tokens tokens = lex(text);
    const bool is_known =
        !tokens.empty() && std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
          return token.kind != TokenKind::identifier || is_builtin(token.text) ||
                 names_.contains(token.text) || token.is("std") || token.is("cuda");
        });
    return is_known ? text : std::string();
  }

  // A template argument as the launch writes it, without names of the host's own.
  [[nodiscard]] std::string known(const std::string& written, bool is_type) const {
    std::string text = is_type ? spelled_type(scope_.type_named(written)) : with_values(written, 0);
    if (auto good = if_known(text); !good.empty()) return good;
    const auto given = scope_.given_by_calls(text);
    for (const auto& each : given) {
      const bool is_meant = given.size() == 1 || !is_type || agrees(written, each);
      if (is_meant) return if_known(is_type ? on_device(each) : with_values(each, 0));
    }
    return given.empty() ? std::string() : if_known(on_device(given.front()));
  }

  static std::string spelled_type(const HostType& type) {
    return on_device(type.name) + std::string(type.pointers, '*');
  }

  // "2 * kTile" as "2*(64)", where the file says what kTile is.
  [[nodiscard]] std::string with_values(const std::string& text, int depth) const {
    const Tokens tokens = lex(text);
    std::string out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool is_inner = i > 0 && (tokens[i - 1].is("::") || tokens[i - 1].is("."));
      const auto value = launch_.values.find(tokens[i].text);
      if (is_inner || value == launch_.values.end() || depth > kMaxDepth) {
        out += spelled(tokens, i, i + 1);
        continue;
      }
      const std::string inner = with_values(value->second, depth + 1);
      out += tokens.size() == 1 ? inner : "(" + inner + ")";
      if (out.size() > kMaxText) return text;
    }
    return out;
  }

  // The template parameter's type by what is handed to the kernel for a T or a T*.
  [[nodiscard]] std::string deduced(const std::string& name) const {
    const std::size_t count = std::min(signature_.parameters.size(), launch_.arguments.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Parameter& parameter = signature_.parameters[i];
      if (parameter.type != name) continue;
      auto type = scope_.type_of(launch_.arguments[i]);
      if (!type || type->pointers < parameter.pointer_depth) continue;
      type->pointers -= parameter.pointer_depth;
      if (auto text = known(spelled_type(*type), true); !text.empty()) return text;
    }
    return {};
  }

  [[nodiscard]] std::string from_contract(const std::string& name) const {
    if (contract_.size() != signature_.parameters.size()) return {};
    for (std::size_t i = 0; i < contract_.size(); ++i) {
      if (signature_.parameters[i].type == name && !contract_[i].empty()) return contract_[i];
    }
    return {};
  }

  // Whether the contract has that type where the kernel's parameter is made of `written`.
  [[nodiscard]] bool agrees(const std::string& written, const std::string& type) const {
    for (std::size_t i = 0; i < launch_.template_arguments.size(); ++i) {
      if (launch_.template_arguments[i] != written || i >= signature_.template_parameters.size())
        continue;
      const std::string wanted = from_contract(signature_.template_parameters[i].name);
      return wanted.empty() || plain_type(wanted) == plain_type(on_device(type));
    }
    return true;
  }

  const Signature& signature_;
  const Launch& launch_;
  const ArgumentTypes& contract_;
  const std::set<std::string_view>& names_;
  HostScope scope_;
};

LaunchedInstance instance_of(const Signature& signature,
                             const std::vector<TemplateArgument>& arguments) {
  LaunchedInstance out{.name = signature.qualified_name};
  std::string text;
  // Defaults at the end say themselves.
  std::size_t count = arguments.size();
  while (count > 0 && arguments[count - 1].origin == Origin::standard) --count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& parameter = signature.template_parameters[i];
    const TemplateArgument& argument = arguments[i];
    if (argument.origin == Origin::contract) {
      out.from_contract.push_back(parameter.name + " = " + argument.text);
    } else if (argument.origin == Origin::unknown) {
      (parameter.is_type() ? out.assumed : out.unknown).push_back(parameter.name);
    }
    text += i == 0 ? "" : ", ";
    text += argument.origin == Origin::unknown ? "float" : argument.text;
  }
  if (out.unknown.empty()) out.name += "<" + text + ">";
  return out;
}

// Whether every parameter whose type the template gives has the contract's.
bool fits(const Signature& signature, const std::vector<TemplateArgument>& arguments,
          const ArgumentTypes& contract) {
  if (contract.size() != signature.parameters.size()) return false;
  for (std::size_t i = 0; i < contract.size(); ++i) {
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (signature.parameters[i].type != signature.template_parameters[k].name) continue;
      if (!contract[i].empty() && plain_type(arguments[k].text) != plain_type(contract[i]))
        return false;
    }
  }
  return true;
}

}  // namespace

std::vector<TemplateArgument> template_arguments(const Unit& unit, const Signature& signature,
                                                 const Launch& launch,
                                                 const ArgumentTypes& contract) {
  const File file(unit);
  return Arguments(file, signature, launch, contract).run();
}

std::vector<LaunchedInstance> launched_instances(std::string_view source,
                                                 const ArgumentTypes& contract) {
  const Unit unit = preprocess(source);
  const File file(unit);
  std::vector<LaunchedInstance> list;
  std::size_t fitting = 0;
  const auto kernels = find_kernels(unit).kernels;
  for (const Launch& launch : find_launches(unit)) {
    for (const Kernel& kernel : kernels) {
      const Signature& signature = kernel.signature;
      const bool is_meant =
          signature.qualified_name == launch.kernel || signature.name == launch.kernel;
      if (!is_meant || !signature.is_template()) continue;
      const auto arguments = Arguments(file, signature, launch, contract).run();
      auto instance = instance_of(signature, arguments);
      const bool is_listed =
          std::any_of(list.begin(), list.end(),
                      [&](const LaunchedInstance& other) { return other.name == instance.name; });
      if (is_listed) continue;
      const bool is_first = fits(signature, arguments, contract);
      const auto place = is_first ? static_cast<std::ptrdiff_t>(fitting++)
                                  : static_cast<std::ptrdiff_t>(list.size());
      list.insert(list.begin() + place, std::move(instance));
    }
  }
  return list;
}

}  // namespace assay::source
