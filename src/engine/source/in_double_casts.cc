#include "engine/source/in_double_casts.h"

#include <algorithm>
#include <optional>

#include "engine/source/in_double_words.h"

namespace assay::source {
namespace {

// A cast to a pointer or a reference: its type's tokens, and those of what is cast.
struct Cast {
  Range type{};
  Range operand{};
};

using Partners = std::vector<std::size_t>;

// Of a type that is cast to; what is longer is no cast.
constexpr std::size_t kMostTokensOfAType = 256;
// Of what is cast, as far as it is looked at.
constexpr std::size_t kMostTokensOfAnOperand = 1024;

bool is_single(std::string_view word) {
  const auto type = wider_type(word);
  return type && type->width == Width::single;
}

// A name of the source's own for a pointer to numbers.
bool is_pointer_name(std::string_view word, const OwnWords& own) {
  const auto is_numbers = [](std::string_view base) {
    return is_integer_type(base) || is_single(base);
  };
  const auto meaning = own.aliases.always(word, is_numbers);
  return meaning && meaning->is_indirect;
}

bool is_pointer(const Tokens& tokens, Range type, const OwnWords& own) {
  if (is_indirect(tokens, type)) return true;
  return type.begin < type.end && is_pointer_name(tokens[base_of(tokens, type)].text, own);
}

Range bounded(Range operand) {
  operand.end = std::min(operand.end, operand.begin + kMostTokensOfAnOperand);
  return operand;
}

// `reinterpret_cast<float4*>(p)`, `static_cast<float*>(p)`.
std::optional<Cast> named_cast(const Tokens& tokens, const Partners& partners, std::size_t i) {
  if (!tokens[i].text.ends_with("_cast") || i + 1 >= tokens.size() || !tokens[i + 1].is("<")) {
    return std::nullopt;
  }
  const std::size_t limit = std::min(tokens.size(), i + kMostTokensOfAType);
  const std::size_t close = closing_angle(tokens, i + 1, limit);
  if (close + 1 >= limit || !tokens[close + 1].is("(")) return std::nullopt;
  return Cast{.type = {i + 2, close}, .operand = bounded({close + 2, partners[close + 1]})};
}

// Behind a name or a closed bracket a '(' begins arguments, and no cast.
bool may_begin_cast(const Tokens& tokens, std::size_t i) {
  if (!tokens[i].is("(")) return false;
  if (i == 0) return true;
  const Token& before = tokens[i - 1];
  const bool is_keyword = before.is("return") || before.is("case") || before.is("else");
  if (before.kind == TokenKind::identifier && !is_keyword) return false;
  return !before.is("]") && !before.is(")") && !before.is(">");
}

bool is_qualifier(const Token& token) {
  return token.is("const") || token.is("volatile") || token.is("__restrict__");
}

// Where the ')' stands behind a pointer's type that begins at `begin`; nothing for what is no such
// type.
std::optional<std::size_t> end_of_pointer_type(const Tokens& tokens, std::size_t begin,
                                               std::size_t limit, const OwnWords& own) {
  bool has_name = false;
  bool has_star = false;
  std::size_t end = begin;
  for (; end < limit && !tokens[end].is(")"); ++end) {
    const Token& token = tokens[end];
    has_star |= token.is("*");
    if (token.kind == TokenKind::identifier) {
      has_name = true;
      if (has_star && !is_qualifier(token)) return std::nullopt;  // a product
    } else if (token.is("<")) {
      end = closing_angle(tokens, end, limit);
      if (end == limit) return std::nullopt;
    } else if (!token.is("*") && !token.is("&") && !token.is("::")) {
      return std::nullopt;
    }
  }
  if (!has_name || end + 1 >= limit) return std::nullopt;
  if (!has_star && !is_pointer(tokens, {begin, end}, own)) return std::nullopt;
  return end;
}

// What is cast: to the end of a bracket that follows, or one word.
std::optional<Range> operand_at(const Tokens& tokens, const Partners& partners, std::size_t first) {
  while (first < tokens.size() && (tokens[first].is("&") || tokens[first].is("*"))) ++first;
  if (first == tokens.size()) return std::nullopt;
  std::size_t last = first + 1;
  if (tokens[first].is("(")) {
    last = partners[first];
  } else if (last < tokens.size() && tokens[last].is("[")) {
    last = partners[last];
  }
  return bounded({first, std::min(last, tokens.size())});
}

// `(float4*)p`, `(const int4*)(p + i)`: a '(' behind no name, and a star before its ')'.
std::optional<Cast> c_cast(const Tokens& tokens, const Partners& partners, std::size_t i,
                           const OwnWords& own) {
  if (!may_begin_cast(tokens, i)) return std::nullopt;
  const std::size_t limit = std::min(tokens.size(), i + kMostTokensOfAType);
  const auto end = end_of_pointer_type(tokens, i + 1, limit, own);
  if (!end) return std::nullopt;
  const auto operand = operand_at(tokens, partners, *end + 1);
  if (!operand) return std::nullopt;
  return Cast{.type = {i + 1, *end}, .operand = *operand};
}

// `words(p)`, where the source says `typedef unsigned* words`.
std::optional<Cast> cast_by_name(const Tokens& tokens, const Partners& partners, std::size_t i,
                                 const OwnWords& own) {
  const bool is_call = tokens[i].kind == TokenKind::identifier && i + 1 < tokens.size() &&
                       tokens[i + 1].is("(") && partners[i + 1] < tokens.size();
  if (!is_call || !is_pointer_name(tokens[i].text, own)) return std::nullopt;
  return Cast{.type = {i, i + 1}, .operand = bounded({i + 2, partners[i + 1]})};
}

bool contains(const Tokens& tokens, Range range, std::string_view word) {
  return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(range.begin),
                     tokens.begin() + static_cast<std::ptrdiff_t>(range.end),
                     [&](const Token& token) { return token.is(word); });
}

std::string_view first_word(const Tokens& tokens, Range range) {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (tokens[i].kind == TokenKind::identifier) return tokens[i].text;
  }
  return {};
}

std::string why_unsound(const Tokens& tokens, const Cast& cast, const OwnWords& own,
                        const Widths& widths) {
  const Token& base = tokens[base_of(tokens, cast.type)];
  const std::string_view operand = first_word(tokens, cast.operand);
  const bool is_dynamic_shared = own.dynamic_shared.contains(operand);
  const bool is_own = own.contains(base.text);
  const auto integers = own.aliases.always(base.text, is_integer_type);
  if (integers || (!is_own && !wider_type(base.text))) {
    const std::string what = integers ? ", which is `" + integers->base + "`" : std::string();
    return "memory is read as `" + std::string(base.text) + "`" + what +
           ", whose bytes are others in double";
  }
  if (is_dynamic_shared) {
    const bool is_offset =
        cast.operand.end > cast.operand.begin + 1 &&
        (contains(tokens, cast.operand, "+") || contains(tokens, cast.operand, "["));
    if (own.dynamic_bytes.contains(operand) && is_offset &&
        !contains(tokens, cast.operand, "sizeof")) {
      return "shared memory is divided by a number of bytes";
    }
    return {};
  }
  if (own.integer_memory.contains(operand)) return "integers are read as floating-point numbers";
  const bool is_of_singles =
      is_own ? own.aliases.always(base.text, is_single).has_value() : is_single(base.text);
  const bool is_mixed = widths.has_half && is_of_singles;
  return is_mixed ? "memory of half-width numbers is moved as another type" : std::string();
}

}  // namespace

std::vector<UnsoundCast> unsound_casts(const Tokens& tokens, const OwnWords& own,
                                       const Widths& widths) {
  std::vector<UnsoundCast> found;
  if (!widths.has_half && !widths.has_single) return found;
  const Partners partners = pair_brackets(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    auto cast = named_cast(tokens, partners, i);
    if (!cast) cast = c_cast(tokens, partners, i, own);
    if (!cast) cast = cast_by_name(tokens, partners, i, own);
    if (!cast || !is_pointer(tokens, cast->type, own)) continue;
    if (auto reason = why_unsound(tokens, *cast, own, widths); !reason.empty()) {
      found.push_back({base_of(tokens, cast->type), std::move(reason)});
    }
  }
  return found;
}

}  // namespace assay::source
