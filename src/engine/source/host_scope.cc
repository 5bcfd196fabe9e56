#include "engine/source/host_scope.h"

#include <algorithm>
#include <array>

#include "engine/source/parameter.h"

namespace assay::source {
namespace {

constexpr int kMaxDepth = 8;
constexpr int kMaxCallDepth = 2;
constexpr std::size_t kMaxVisible = 20'000;
constexpr std::size_t kMaxBehind = 100'000;  // tokens that are looked back
constexpr std::size_t kMaxAngleTokens = 64;
constexpr std::size_t kMaxCalls = 16;
constexpr std::size_t kMaxTypeTokens = 64;

bool ends_scope_item(const Token& token) { return token.is(";") || token.is("{") || token.is("}"); }

bool is_no_type(const Token& token) {
  static constexpr std::array<std::string_view, 9> kWords{
      "return", "else", "new", "delete", "goto", "case", "using", "typedef", "throw"};
  return std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

bool is_qualifier(const Token& token) {
  static constexpr std::array<std::string_view, 11> kWords{
      "const", "volatile", "static",   "constexpr",    "inline",    "struct",
      "class", "enum",     "typename", "__restrict__", "__restrict"};
  return std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

}  // namespace

HostScope::HostScope(const Unit& unit, const std::vector<std::size_t>& partners, std::size_t at,
                     int depth)
    : unit_(unit), tokens_(unit.tokens), partners_(partners), depth_(depth) {
  bool is_in_body = false;  // the token behind opens a scope that is still open
  const std::size_t begin = std::min(at, tokens_.size());
  for (std::size_t i = begin; i-- > 0 && begin - i < kMaxBehind && visible_.size() < kMaxVisible;) {
    const Token& token = tokens_[i];
    const bool is_closed =
        (token.is("}") || token.is(")") || token.is("]")) && partners_[i] < tokens_.size();
    // The parameters of a function around are names here, those of another are not.
    if (is_closed && !(is_in_body && token.is(")"))) {
      i = partners_[i];
      const bool has_head = token.is("}") && i > 0 && tokens_[i - 1].is(")");
      while (has_head && i > 0 && !ends_scope_item(tokens_[i - 1])) --i;
      is_in_body = false;
      continue;
    }
    is_in_body = token.is("{");
    visible_.push_back(i);
  }
}

bool HostScope::is_plain(const Token& token) {
  return token.kind == TokenKind::identifier || token.is("::");
}

// "const float *" and its like; nothing for what is no type.
HostScope::Type HostScope::type_in(const Tokens& tokens, Range range) {
  HostType type;
  Tokens name;
  for (std::size_t i = range.begin; i < range.end && i < range.begin + kMaxTypeTokens; ++i) {
    const Token& token = tokens[i];
    if (token.is("*")) {
      ++type.pointers;
    } else if (token.is("<")) {
      const std::size_t close = closing_angle(tokens, i, range.end);
      if (close == range.end || name.empty()) return std::nullopt;
      name.insert(name.end(), tokens.begin() + static_cast<std::ptrdiff_t>(i),
                  tokens.begin() + static_cast<std::ptrdiff_t>(close) + 1);
      i = close;
    } else if (is_plain(token) && !is_no_type(token)) {
      if (!is_qualifier(token)) name.push_back(token);
    } else if (!token.is("&") && !token.is("&&")) {
      return std::nullopt;
    }
  }
  if (name.empty()) return std::nullopt;
  type.name = spelled(name, 0, name.size());
  return type;
}

// The '<' that the '>' at `close` ends; `close` if there is none.
std::size_t HostScope::begin_of_angle(std::size_t close) const {
  std::size_t depth = 0;
  for (std::size_t i = close + 1; i-- > 0 && close - i < kMaxAngleTokens;) {
    if (tokens_[i].is(">")) ++depth;
    if (tokens_[i].is("<") && --depth == 0) return i;
    if (ends_scope_item(tokens_[i])) return close;
  }
  return close;
}

// "double" of double *a, *b; where b follows the comma.
HostScope::Type HostScope::base_of_list(std::size_t comma) const {
  std::size_t begin = comma;
  for (; begin > 0 && !ends_scope_item(tokens_[begin - 1]); --begin) {
    if (tokens_[begin - 1].is("(")) return std::nullopt;  // arguments or parameters
    if (tokens_[begin - 1].is(")") && partners_[begin - 1] < begin)
      begin = partners_[begin - 1] + 1;
  }
  std::size_t end = begin;
  for (; end < comma && (is_plain(tokens_[end]) || tokens_[end].is("<")); ++end) {
    if (tokens_[end].is("<")) {
      end = closing_angle(tokens_, end, comma);
      if (end == comma) return std::nullopt;
      continue;
    }
    const Token& next = tokens_[end + 1];
    const bool is_name = next.is("=") || next.is(",") || next.is("(") || next.is("[");
    if (is_name) break;
  }
  return type_in(tokens_, {begin, end});
}

// Where the words and stars before a name begin; the name's own place if they are no type's.
std::size_t HostScope::begin_of_type(std::size_t name) const {
  std::size_t begin = name;
  while (begin > 0 && name - begin < kMaxTypeTokens) {
    const Token& before = tokens_[begin - 1];
    if (before.is(">")) {
      const std::size_t angle = begin_of_angle(begin - 1);
      if (angle == begin - 1) return name;
      begin = angle;
    } else if (is_plain(before) || before.is("*") || before.is("&")) {
      --begin;
    } else {
      const bool is_start =
          ends_scope_item(before) || before.is("(") || before.is(",") || before.is(")");
      return is_start ? begin : name;
    }
  }
  return begin;
}

// The declaration whose name stands at `at`, if it is one.
HostScope::Type HostScope::declared_at(std::size_t at, int depth) const {
  static constexpr std::array<std::string_view, 8> kBehind{"=", ";", ",", ")", "(", "{", "[", ":"};
  if (at == 0 || at + 1 >= tokens_.size()) return std::nullopt;
  const Token& next = tokens_[at + 1];
  if (std::find(kBehind.begin(), kBehind.end(), next.text) == kBehind.end()) return std::nullopt;
  const std::size_t begin = begin_of_type(at);
  Type type = type_in(tokens_, {begin, at});
  // double *a, *b: the stars are each name's own.
  if (!type && begin > 0 && tokens_[begin - 1].is(",")) {
    type = base_of_list(begin - 1);
    const auto first = tokens_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto is_star = [](const Token& token) { return token.is("*"); };
    const auto stars =
        std::count_if(first, tokens_.begin() + static_cast<std::ptrdiff_t>(at), is_star);
    if (type) type->pointers = static_cast<std::size_t>(stars);
  }
  if (!type) return std::nullopt;
  if (type->name == "auto") {
    if (!next.is("=")) return std::nullopt;
    std::size_t end = at + 2;
    while (end < tokens_.size() && !tokens_[end].is(";") && end < at + kMaxTypeTokens) ++end;
    return value_in(tokens_, {at + 2, end}, depth + 1);
  }
  if (next.is("[")) ++type->pointers;
  return type;
}

HostScope::Type HostScope::declared(std::string_view name, int depth) const {
  if (depth > kMaxDepth) return std::nullopt;
  for (const std::size_t i : visible_) {
    if (!tokens_[i].is(name)) continue;
    if (auto type = declared_at(i, depth)) return type;
  }
  return std::nullopt;
}

// using name = …; typedef … name;
HostScope::Type HostScope::alias(std::string_view name) const {
  for (const std::size_t i : visible_) {
    if (!tokens_[i].is(name) || i == 0 || i + 1 >= tokens_.size()) continue;
    if (tokens_[i - 1].is("using") && tokens_[i + 1].is("=")) {
      std::size_t end = i + 2;
      while (end < tokens_.size() && !tokens_[end].is(";")) ++end;
      return type_in(tokens_, {i + 2, end});
    }
    if (!tokens_[i + 1].is(";")) continue;
    std::size_t begin = i;
    while (begin > 0 && i - begin < kMaxTypeTokens && !ends_scope_item(tokens_[begin - 1])) --begin;
    if (tokens_[begin].is("typedef")) return type_in(tokens_, {begin + 1, i});
  }
  return std::nullopt;
}

HostType HostScope::resolved(HostType type) const {
  for (int chain = 0; chain < kMaxDepth; ++chain) {
    const Type next = alias(type.name);
    if (!next || next->name == type.name) break;
    type = {next->name, next->pointers + type.pointers};
  }
  return type;
}

std::optional<HostType> HostScope::type_of(std::string_view expression) const {
  const Tokens tokens = lex(expression);
  auto type = value_in(tokens, {0, tokens.size()}, 0);
  if (type) type = resolved(*std::move(type));
  return type;
}

HostType HostScope::type_named(std::string_view text) const {
  const Tokens tokens = lex(text);
  auto type = type_in(tokens, {0, tokens.size()});
  return type ? resolved(*std::move(type)) : HostType{.name = std::string(text)};
}

// template <…> … name(…).
struct HostScope::Template {
  std::string_view name{};
  std::size_t index = 0;  // of the template parameter that was asked for
  Range parameters{};     // of the function
};

// The one whose template parameter stands at `parameter`.
std::optional<HostScope::Template> HostScope::template_with(std::size_t parameter) const {
  std::size_t open = parameter;
  while (open > 0 && parameter - open < kMaxAngleTokens && !tokens_[open].is("<")) --open;
  if (open == 0 || !tokens_[open].is("<") || !tokens_[open - 1].is("template")) return std::nullopt;
  const std::size_t close = closing_angle(tokens_, open, tokens_.size());
  if (close >= tokens_.size() || close < parameter) return std::nullopt;  // a use, further on
  Template out;
  for (const Range part : split_at_commas(tokens_, open + 1, close)) {
    if (part.end <= parameter) ++out.index;
  }
  std::size_t paren = close;
  while (paren < tokens_.size() && !tokens_[paren].is("(") && !ends_scope_item(tokens_[paren]))
    ++paren;
  if (paren >= tokens_.size() || !tokens_[paren].is("(") || partners_[paren] >= tokens_.size())
    return std::nullopt;
  out.name = tokens_[paren - 1].text;
  out.parameters = {paren + 1, partners_[paren]};
  return out;
}

// What go<double>(x) writes for the parameter, or what go(x) makes of it by the type of x.
std::string HostScope::given_by_call(std::size_t at, const Template& around,
                                     std::string_view name) const {
  const HostScope scope(unit_, partners_, at, depth_ + 1);
  if (tokens_[at + 1].is("<")) {
    const std::size_t close = closing_angle(tokens_, at + 1, tokens_.size());
    if (close >= tokens_.size()) return {};
    const auto given = split_at_commas(tokens_, at + 2, close);
    if (around.index >= given.size()) return {};
    const Range written = given[around.index];
    const HostType type = scope.type_named(spelled(tokens_, written.begin, written.end));
    return type.name + std::string(type.pointers, '*');
  }
  if (partners_[at + 1] >= tokens_.size()) return {};
  const auto given = split_at_commas(tokens_, at + 2, partners_[at + 1]);
  const auto parameters = split_at_commas(tokens_, around.parameters.begin, around.parameters.end);
  for (std::size_t k = 0; k < std::min(given.size(), parameters.size()); ++k) {
    const auto parameter = read_parameter(tokens_, parameters[k], {});
    if (!parameter || parameter->type != name) continue;
    const auto type = scope.type_of(spelled(tokens_, given[k].begin, given[k].end));
    if (type && type->pointers == parameter->pointer_depth) return type->name;
  }
  return {};
}

std::vector<std::string> HostScope::given_by_calls(std::string_view name) const {
  std::vector<std::string> list;
  std::optional<Template> around;
  for (const std::size_t i : visible_) {
    if (tokens_[i].is(name)) around = template_with(i);
    if (around) break;
  }
  if (!around || depth_ > kMaxCallDepth) return list;
  std::size_t looked_at = 0;
  for (std::size_t i = 0; i + 1 < tokens_.size() && looked_at < kMaxCalls; ++i) {
    const bool is_call = tokens_[i].is(around->name) && i + 2 != around->parameters.begin &&
                         (tokens_[i + 1].is("<") || tokens_[i + 1].is("("));
    if (!is_call) continue;
    ++looked_at;
    std::string given = given_by_call(i, *around, name);
    const bool is_new = std::find(list.begin(), list.end(), given) == list.end();
    if (is_new && !given.empty()) list.push_back(std::move(given));
  }
  return list;
}

}  // namespace assay::source
