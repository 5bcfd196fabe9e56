#include "engine/source/device_variable.h"

#include <array>

#include "engine/source/word_list.h"

namespace assay::source {
namespace {

// With these a declaration makes no variable here.
constexpr std::array<std::string_view, 8> kOtherwise{
    "template", "extern", "using", "typedef", "friend", "__shared__", "static_assert", "operator"};
constexpr std::array<std::string_view, 5> kCalled{"alignas", "__align__", "__attribute__",
                                                  "decltype", "__builtin_align__"};

struct Declarator {
  std::string_view name{};
  std::size_t assigned = 0;  // its '=', or the end
};

std::size_t assignment(const Tokens& tokens, std::size_t from, std::size_t end) {
  while (from < end && !tokens[from].is("=")) ++from;
  return from;
}

bool makes_type(const Tokens& tokens, std::size_t brace, Range part) {
  constexpr std::array<std::string_view, 4> kTypes{"struct", "union", "class", "enum"};
  const auto is_type = [&](std::size_t back) {
    return brace >= part.begin + back && is_one_of(tokens[brace - back].text, kTypes);
  };
  return is_type(1) || is_type(2);
}

// Behind template arguments, or an attribute's, at `at`; the end for a function or a pointer to
// one.
std::size_t behind_arguments(const Tokens& tokens, std::size_t at, Range part) {
  const bool is_template = tokens[at].is("<");
  const bool is_call = at > part.begin && is_one_of(tokens[at - 1].text, kCalled);
  if (!is_template && !is_call) return part.end;
  return is_template ? closing_angle(tokens, at, part.end) : closing(tokens, at, part.end);
}

// "float w[4] = {…}", or of a later one "bias = 1". Nothing: no variable.
std::optional<Declarator> declarator(const Tokens& tokens, Range part) {
  Declarator found{.assigned = part.end};
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const Token& token = tokens[i];
    // The body of a type, which would be another one on the host.
    if (token.is("{") && makes_type(tokens, i, part)) return std::nullopt;
    if (token.is("=") || token.is("[") || token.is("{")) {
      found.assigned = assignment(tokens, i, part.end);
      break;
    }
    if (token.is("<") || token.is("(")) {
      i = behind_arguments(tokens, i, part);
      if (i == part.end) return std::nullopt;
    } else if (token.kind == TokenKind::identifier) {
      if (is_one_of(token.text, kOtherwise)) return std::nullopt;
      const bool is_qualified = i > part.begin && tokens[i - 1].is("::");
      found.name = is_qualified ? std::string_view() : token.text;
    }
  }
  if (found.name.empty()) return std::nullopt;
  return found;
}

}  // namespace

std::optional<DeviceVariables> device_variables(const Tokens& tokens, Range item) {
  if (item.end <= item.begin + 1 || !tokens[item.end - 1].is(";")) return std::nullopt;
  DeviceVariables variables;
  for (const Range part : split_at_commas(tokens, item.begin, item.end - 1)) {
    const auto one = declarator(tokens, part);
    if (!one) return std::nullopt;
    variables.names.emplace_back(one->name);
    for (std::size_t i = part.begin; i < one->assigned; ++i) {
      variables.is_constant |= tokens[i].is("const") || tokens[i].is("constexpr");
    }
    const std::size_t value = one->assigned + 1;
    const bool is_name = (value + 1 == part.end && tokens[value].kind == TokenKind::identifier) ||
                         (value + 2 == part.end && tokens[value].is("&"));
    if (is_name) variables.hidden.push_back({one->assigned, part.end});
  }
  if (variables.is_constant) variables.hidden.clear();
  return variables;
}

}  // namespace assay::source
