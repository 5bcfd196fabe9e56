#include "engine/source/type_alias.h"

#include <algorithm>

#include "engine/source/in_double_words.h"

namespace assay::source {
namespace {

using std::string_view;

// Of a type that a name is given to; what is longer is left alone.
constexpr std::size_t kMostTokensOfAType = 256;
constexpr std::size_t kMostTokensOfAMacro = 16;
// That are followed for one name; of one that has more nothing is known.
constexpr std::size_t kMostDefinitions = 64;

bool is_word_token(const Token& token) { return token.kind == TokenKind::identifier; }

bool qualifies(const Token& token) {
  return token.is("const") || token.is("volatile") || token.is("typename") || token.is("struct");
}

// As base_of(), but of `unsigned char` the `char`.
std::size_t last_of_base(const Tokens& tokens, Range type) {
  std::size_t base = base_of(tokens, type);
  while (base + 1 < type.end && is_integer_type(tokens[base].text) &&
         is_integer_type(tokens[base + 1].text)) {
    ++base;
  }
  return base;
}

// "struct V {", "template <typename V, class W>": a type of its own.
bool declares_type(const Tokens& tokens, std::size_t at) {
  const Token& token = tokens[at];
  const bool is_type = token.is("struct") || token.is("class") || token.is("typename") ||
                       token.is("enum") || token.is("union");
  if (!is_type || at + 2 >= tokens.size() || !is_word_token(tokens[at + 1])) return false;
  for (const string_view end : {"{", ",", ">", "=", ":", ";"}) {
    if (tokens[at + 2].is(end)) return true;
  }
  return false;
}

}  // namespace

std::size_t base_of(const Tokens& tokens, Range type) {
  for (std::size_t i = type.begin; i < type.end; ++i) {
    const bool is_space = i + 1 < type.end && tokens[i + 1].is("::");
    if (is_word_token(tokens[i]) && !qualifies(tokens[i]) && !is_space) return i;
  }
  return type.begin;
}

bool is_indirect(const Tokens& tokens, Range type) {
  for (std::size_t i = type.begin; i < type.end; ++i) {
    if (tokens[i].is("*") || tokens[i].is("&")) return true;
  }
  return false;
}

void TypeAliases::take(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_word_token(tokens[i])) continue;
    if (tokens[i].is("typedef")) take_typedef(tokens, i);
    if (tokens[i].is("using")) take_using(tokens, i);
    if (declares_type(tokens, i)) add(tokens[i + 1].text, {}, false);
  }
}

void TypeAliases::take_macro(string_view name, const Tokens& body) {
  if (body.empty() || body.size() > kMostTokensOfAMacro) return;
  const bool may_be_type = std::all_of(body.begin(), body.end(), [](const Token& token) {
    return is_word_token(token) || token.is("::") || token.is("*") || token.is("&");
  });
  const Range type{0, body.size()};
  const Token& base = body[last_of_base(body, type)];
  if (may_be_type && is_word_token(base)) add(name, base.text, is_indirect(body, type));
}

// "typedef unsigned int u32, *words;", "typedef __align__(16) unsigned tile[4];"
void TypeAliases::take_typedef(const Tokens& tokens, std::size_t at) {
  const std::size_t limit = std::min(tokens.size(), at + kMostTokensOfAType);
  std::size_t begin = at + 1;
  while (begin + 1 < limit && tokens[begin + 1].is("("))
    begin = closing(tokens, begin + 1, limit) + 1;
  const std::size_t base = last_of_base(tokens, {begin, limit});
  std::size_t name = base;
  bool is_pointer = false;
  for (std::size_t i = base + 1; i < limit; ++i) {
    const Token& token = tokens[i];
    if (token.is("{")) return;
    if (token.is("(") || token.is("[")) {
      i = closing(tokens, i, limit);
    } else if (token.is("<")) {
      i = std::min(closing_angle(tokens, i, limit), limit);
    } else if (token.is(",") || token.is(";")) {
      if (name > base) add(tokens[name].text, tokens[base].text, is_pointer);
      if (token.is(";")) return;
      name = base;
      is_pointer = false;
    } else if (token.is("*") || token.is("&")) {
      is_pointer = true;
    } else if (is_word_token(token) && !(i + 1 < limit && tokens[i + 1].is("("))) {
      name = i;
    }
  }
}

// "using V = const uint4*;"
void TypeAliases::take_using(const Tokens& tokens, std::size_t at) {
  if (at + 3 >= tokens.size() || !is_word_token(tokens[at + 1]) || !tokens[at + 2].is("=")) return;
  const std::size_t limit = std::min(tokens.size(), at + kMostTokensOfAType);
  Range type{at + 3, at + 3};
  while (type.end < limit && !tokens[type.end].is(";")) ++type.end;
  if (type.begin == type.end) return;
  const Token& base = tokens[last_of_base(tokens, type)];
  if (is_word_token(base)) add(tokens[at + 1].text, base.text, is_indirect(tokens, type));
}

void TypeAliases::add(string_view name, string_view base, bool is_indirect) {
  auto& definitions = known_[std::string(name)];
  const TypeMeaning meaning{std::string(base), is_indirect};
  const bool is_new =
      std::find(definitions.begin(), definitions.end(), meaning) == definitions.end();
  if (is_new && definitions.size() < kMostDefinitions) definitions.push_back(meaning);
}

std::vector<TypeMeaning> TypeAliases::meanings(string_view name) const {
  std::vector<TypeMeaning> found;
  std::vector<TypeMeaning> followed{{.base = std::string(name)}};
  for (std::size_t i = 0; i < followed.size(); ++i) {
    const TypeMeaning current = followed[i];
    const auto known = known_.find(current.base);
    if (known == known_.end()) {
      found.push_back(current);
      continue;
    }
    for (const TypeMeaning& next : known->second) {
      const TypeMeaning meaning{next.base, current.is_indirect || next.is_indirect};
      if (std::find(followed.begin(), followed.end(), meaning) != followed.end()) continue;
      if (followed.size() == kMostDefinitions) return {};
      followed.push_back(meaning);
    }
  }
  return found;
}

std::optional<TypeMeaning> TypeAliases::always(string_view name, bool (*kind)(string_view)) const {
  if (!known_.contains(name)) return std::nullopt;
  const auto found = meanings(name);
  if (found.empty()) return std::nullopt;
  TypeMeaning meaning = found.front();
  for (const TypeMeaning& other : found) {
    if (!kind(other.base)) return std::nullopt;
    meaning.is_indirect &= other.is_indirect;
  }
  return meaning;
}

}  // namespace assay::source
