#include "engine/node/element_types.h"

#include <algorithm>
#include <optional>

#include "engine/contract/dtype.h"
#include "engine/contract/in_double.h"
#include "engine/source/signature.h"
#include "engine/source/token.h"

namespace assay::node {
namespace {

using contract::DType;

// What one parameter is: "float" and a star.
struct Taken {
  std::string type{};
  std::size_t stars = 0;
  bool is_plain = true;  // no reference, no array, no function

  // "" if it is no pointer, or one to pointers.
  [[nodiscard]] std::string pointee() const {
    return stars == 1 && is_plain ? type : std::string();
  }
};

Taken read_type(const source::Tokens& tokens, source::Range range) {
  Taken taken;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const auto& token = tokens[i];
    if (token.is("const") || token.is("volatile") || token.is("__restrict__")) continue;
    if (token.is("*")) {
      ++taken.stars;
    } else {
      taken.is_plain &= !token.is("&") && !token.is("(") && !token.is("[");
      taken.type += (taken.type.empty() ? "" : " ") + std::string(token.text);
    }
  }
  return taken;
}

std::optional<std::vector<Taken>> from_demangled(std::string_view kernel) {
  const source::Tokens tokens = source::lex(kernel);
  if (tokens.empty() || !tokens.back().is(")")) return std::nullopt;
  const auto partners = source::pair_brackets(tokens);
  for (std::size_t open = 0; open + 1 < tokens.size(); ++open) {
    if (!tokens[open].is("(") || partners[open] != tokens.size() - 1) continue;
    std::vector<Taken> list;
    for (const auto range : source::split_at_commas(tokens, open + 1, tokens.size() - 1)) {
      list.push_back(read_type(tokens, range));
    }
    return list;
  }
  return std::nullopt;
}

std::optional<std::vector<Taken>> from_source(std::string_view kernel, std::string_view text) {
  for (const auto& signature : source::signatures(text)) {
    if (signature.name != kernel) continue;
    std::vector<Taken> list;
    for (const auto& parameter : signature.parameters) {
      list.push_back({.type = parameter.type,
                      .stars = parameter.pointer_depth,
                      .is_plain = !parameter.is_reference});
    }
    return list;
  }
  return std::nullopt;
}

// Each argument of the contract beside what the kernel takes for it.
template <typename See>
void side_by_side(const contract::Contract& contract, std::string_view kernel,
                  std::string_view source, See&& see) {
  auto types = from_demangled(kernel);
  if (!types) types = from_source(kernel, source);
  if (!types) return;
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    if (contract.args[i].is_meta) continue;
    if (parameter >= types->size()) break;
    see(i, contract.args[i], (*types)[parameter++]);
  }
}

// A demangled name has what cudaTextureObject_t stands for: that alone tells nothing.
bool is_texture_object(const Taken& parameter) {
  return parameter.stars == 0 && parameter.is_plain && parameter.type == "cudaTextureObject_t";
}

bool may_be_texture_object(const Taken& parameter) {
  if (parameter.stars > 0 || !parameter.is_plain) return false;
  const auto number = contract::parse_c_type(parameter.type);
  return is_texture_object(parameter) || !number || *number == DType::uint64;
}

bool is_null(const contract::Arg& arg) {
  const auto* value = std::get_if<std::int64_t>(&arg.value);
  return value != nullptr && *value == 0;
}

// A byte is what people move memory with, and all types of one byte are read as each other.
bool is_meant(DType taken, DType given) {
  if (taken == given) return true;
  return contract::size_bytes(taken) == 1 &&
         (contract::is_integer(taken) || contract::size_bytes(given) == 1);
}

}  // namespace

std::vector<TypeDoubt> doubtful_types(const contract::Contract& contract, std::string_view kernel,
                                      std::string_view source) {
  std::vector<TypeDoubt> doubts;
  side_by_side(
      contract, kernel, source,
      [&](std::size_t i, const contract::Arg& arg, const Taken& parameter) {
        const std::string type = parameter.pointee();
        const auto taken = contract::parse_c_type(type);
        if (!arg.is_tensor() || !taken || is_meant(*taken, arg.tensor_spec->dtype)) return;
        const DType given = arg.tensor_spec->dtype;
        const bool same_size = contract::size_bytes(*taken) == contract::size_bytes(given);
        doubts.push_back(
            {i, "the kernel takes '" + arg.name + "' as " + type + "*, the contract says " +
                    std::string(contract::name(given)) +
                    (same_size ? ": the same bits are read as another type"
                               : ": elements of " + std::to_string(contract::size_bytes(*taken)) +
                                     " bytes over elements of " +
                                     std::to_string(contract::size_bytes(given)))});
      });
  return doubts;
}

std::vector<TypeDoubt> mistaken_kinds(const contract::Contract& contract, std::string_view kernel,
                                      std::string_view source) {
  std::vector<TypeDoubt> mistakes;
  side_by_side(
      contract, kernel, source,
      [&](std::size_t i, const contract::Arg& arg, const Taken& parameter) {
        const bool is_number = parameter.is_plain && parameter.stars == 0 &&
                               contract::parse_c_type(parameter.type).has_value();
        if (arg.texture) {
          if (may_be_texture_object(parameter)) return;
          mistakes.push_back({i, "the kernel takes '" + arg.name + "' as " + parameter.type +
                                     std::string(parameter.stars, '*') +
                                     ", no cudaTextureObject_t; the contract gives a texture"});
        } else if (is_texture_object(parameter)) {
          mistakes.push_back({i, "the kernel takes '" + arg.name +
                                     "' as cudaTextureObject_t; the contract gives " +
                                     (arg.is_tensor() ? "a tensor without \"texture\""
                                                      : std::string(contract::name(arg.type)))});
        } else if (arg.is_tensor() && is_number) {
          mistakes.push_back({i, "the kernel takes '" + arg.name + "' as " + parameter.type +
                                     ", a number; the contract gives a tensor"});
        } else if (!arg.is_tensor() && parameter.stars > 0 && !is_null(arg)) {
          mistakes.push_back({i, "the kernel takes '" + arg.name + "' as " + parameter.type +
                                     "*, a pointer; the contract gives " +
                                     std::string(contract::name(arg.type)) +
                                     ": it needs a tensor"});
        }
      });
  return mistakes;
}

void round_scalars(const contract::Contract& contract, std::string_view kernel,
                   std::string_view source, contract::Contract& to) {
  side_by_side(contract, kernel, source,
               [&](std::size_t i, const contract::Arg& arg, const Taken& parameter) {
                 if (arg.is_tensor() || parameter.stars > 0) return;
                 const auto taken =
                     arg.c_type ? arg.c_type : contract::parse_c_type(parameter.type);
                 auto* value = std::get_if<double>(&to.args[i].value);
                 if (value == nullptr || !taken || !contract::is_floating(*taken)) return;
                 *value = contract::held(*value, *taken);
               });
}

std::optional<std::string> misread_in_double(const contract::Contract& contract,
                                             std::string_view kernel, std::string_view source) {
  std::optional<std::string> misread;
  std::size_t seen = 0;
  side_by_side(contract, kernel, source,
               [&](std::size_t i, const contract::Arg& arg, const Taken& parameter) {
                 ++seen;
                 if (!arg.is_tensor() || misread) return;
                 const DType given = arg.tensor_spec->dtype;
                 const bool is_wide = contract::size_bytes(contract::wider(given)) >= 8 &&
                                      !contract::is_integer(given);
                 const std::string type = parameter.pointee();
                 if (type.starts_with("double") == is_wide) return;
                 misread = "it takes '" + contract.args[i].name + "', which is " +
                           std::string(contract::name(given)) + ", as " +
                           (type.empty() ? "no plain pointer" : type + "* then");
               });
  const auto passed = std::count_if(contract.args.begin(), contract.args.end(),
                                    [](const contract::Arg& arg) { return !arg.is_meta; });
  if (!misread && seen < static_cast<std::size_t>(passed)) misread = "its parameters are unknown";
  return misread;
}

}  // namespace assay::node
