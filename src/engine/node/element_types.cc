#include "engine/node/element_types.h"

#include <algorithm>
#include <optional>

#include "engine/contract/dtype.h"
#include "engine/source/signature.h"
#include "engine/source/token.h"

namespace assay::node {
namespace {

using contract::DType;

// What one parameter points to; "" if it is no pointer, or one to pointers.
using Pointees = std::vector<std::string>;

// "float" of "float const*"; "" of anything that is no plain pointer.
std::string pointee(const source::Tokens& tokens, source::Range range) {
  std::string text;
  std::size_t stars = 0;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const auto& token = tokens[i];
    if (token.is("const") || token.is("volatile") || token.is("__restrict__")) continue;
    if (token.is("*")) {
      ++stars;
    } else {
      text += (text.empty() ? "" : " ") + std::string(token.text);
    }
  }
  return stars == 1 ? text : std::string();
}

std::optional<Pointees> from_demangled(std::string_view kernel) {
  const source::Tokens tokens = source::lex(kernel);
  if (tokens.empty() || !tokens.back().is(")")) return std::nullopt;
  const auto partners = source::pair_brackets(tokens);
  for (std::size_t open = 0; open + 1 < tokens.size(); ++open) {
    if (!tokens[open].is("(") || partners[open] != tokens.size() - 1) continue;
    Pointees list;
    for (const auto range : source::split_at_commas(tokens, open + 1, tokens.size() - 1)) {
      list.push_back(pointee(tokens, range));
    }
    return list;
  }
  return std::nullopt;
}

std::optional<Pointees> from_source(std::string_view kernel, std::string_view text) {
  for (const auto& signature : source::signatures(text)) {
    if (signature.name != kernel) continue;
    Pointees list;
    for (const auto& parameter : signature.parameters) {
      list.push_back(parameter.pointer_depth == 1 ? parameter.type : std::string());
    }
    return list;
  }
  return std::nullopt;
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
  auto types = from_demangled(kernel);
  if (!types) types = from_source(kernel, source);
  if (!types) return {};
  std::vector<TypeDoubt> doubts;
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < contract.args.size(); ++i) {
    const auto& arg = contract.args[i];
    if (arg.is_meta) continue;
    if (parameter >= types->size()) break;
    const std::string& type = (*types)[parameter++];
    const auto taken = contract::parse_c_type(type);
    if (!arg.is_tensor() || !taken || is_meant(*taken, arg.tensor_spec->dtype)) continue;
    const DType given = arg.tensor_spec->dtype;
    const bool same_size = contract::size_bytes(*taken) == contract::size_bytes(given);
    doubts.push_back(
        {i, "the kernel takes '" + arg.name + "' as " + type + "*, the contract says " +
                std::string(contract::name(given)) +
                (same_size ? ": the same bits are read as another type"
                           : ": elements of " + std::to_string(contract::size_bytes(*taken)) +
                                 " bytes over elements of " +
                                 std::to_string(contract::size_bytes(given)))});
  }
  return doubts;
}

}  // namespace assay::node
