#include "engine/source/own_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "engine/source/in_double_words.h"
#include "engine/source/word_list.h"

namespace assay::source {
namespace {

using std::string_view;

using Partners = std::vector<std::size_t>;

// Words behind which a name is used, or a type goes on: none of them is a type by itself.
constexpr std::array kNoType =
    std::to_array<string_view>({"return",       "else",       "do",           "case",
                                "throw",        "goto",       "new",          "delete",
                                "and",          "or",         "not",          "sizeof",
                                "const",        "volatile",   "typename",     "static",
                                "inline",       "extern",     "typedef",      "constexpr",
                                "register",     "__shared__", "__constant__", "__device__",
                                "__global__",   "__host__",   "__restrict__", "__forceinline__",
                                "__noinline__", "restrict",   "operator",     "template",
                                "co_return",    "default"});
constexpr std::array kControl =
    std::to_array<string_view>({"if", "for", "while", "switch", "catch", "return", "sizeof"});
constexpr std::array kNaming = std::to_array<string_view>(
    {"struct", "class", "enum", "typename", "using", "namespace", "concept"});
constexpr std::array kBytes =
    std::to_array<string_view>({"char", "int8_t", "uint8_t", "uchar", "byte"});

bool is_byte(string_view word) {
  return std::find(kBytes.begin(), kBytes.end(), word) != kBytes.end();
}

bool ends_declarator(const Token& token) {
  for (const string_view end : {"=", ";", ",", ")", "{", ":", "["}) {
    if (token.is(end)) return true;
  }
  return false;
}

// Behind the ')' of a function's parameters stands its body, perhaps a few words before.
bool has_body(const Tokens& tokens, std::size_t close) {
  for (std::size_t i = close + 1; i < tokens.size() && i < close + 8; ++i) {
    if (tokens[i].is("{")) return true;
    if (tokens[i].kind != TokenKind::identifier && !tokens[i].is("->") && !tokens[i].is("*") &&
        !tokens[i].is("&")) {
      return false;
    }
  }
  return false;
}

// "extern __shared__ __align__(16) unsigned char smem[];"
void take_dynamic_shared(const Tokens& tokens, std::size_t at, OwnWords& own) {
  bool of_bytes = false;
  for (std::size_t i = at; i + 1 < tokens.size() && i < at + 16; ++i) {
    if (tokens[i].is(";") || tokens[i].is("{")) return;
    of_bytes |= is_byte(tokens[i].text) || own.aliases.always(tokens[i].text, is_byte);
    if (tokens[i].kind != TokenKind::identifier || !tokens[i + 1].is("[")) continue;
    own.dynamic_shared.emplace(tokens[i].text);
    if (of_bytes) own.dynamic_bytes.emplace(tokens[i].text);
    return;
  }
}

// "const int* __restrict__ p", "unsigned char buffer[64]".
void take_integer_memory(const Tokens& tokens, std::size_t at, OwnWords& own) {
  const auto alias = own.aliases.always(tokens[at].text, is_integer_type);
  if (!alias && !is_integer_type(tokens[at].text)) return;
  bool is_pointer = alias && alias->is_indirect;
  for (std::size_t i = at + 1; i < tokens.size() && i < at + 8; ++i) {
    const Token& token = tokens[i];
    if (token.is("*") || token.is("&")) {
      is_pointer = true;
    } else if (token.kind == TokenKind::identifier) {
      if (is_integer_type(token.text) || is_one_of(token.text, kNoType)) continue;
      const bool is_array = i + 1 < tokens.size() && tokens[i + 1].is("[");
      if (is_pointer || is_array) own.integer_memory.emplace(token.text);
      return;
    } else {
      return;
    }
  }
}

// "struct alignas(16) Name": what is named behind one bracket or several.
void take_name_behind_brackets(const Tokens& tokens, const Partners& partners, std::size_t at,
                               OwnWords& own) {
  std::size_t name = at + 1;
  while (name + 1 < tokens.size() && tokens[name].kind == TokenKind::identifier &&
         tokens[name + 1].is("(") && partners[name + 1] < tokens.size()) {
    name = partners[name + 1] + 1;
  }
  const bool is_name =
      name < tokens.size() && name > at + 1 && tokens[name].kind == TokenKind::identifier;
  if (is_name) own.words.emplace(tokens[name].text);
}

// The name of a function that has its body here.
bool defines_function(const Tokens& tokens, const Partners& partners, std::size_t at) {
  return tokens[at + 1].is("(") && !is_one_of(tokens[at].text, kControl) &&
         partners[at + 1] < tokens.size() && has_body(tokens, partners[at + 1]);
}

// Whether what stands before and behind a name makes it that of a type, a variable or a parameter.
bool declares(const Token& before, const Token& next) {
  const bool is_word = before.kind == TokenKind::identifier;
  const bool is_named = is_word && is_one_of(before.text, kNaming);
  const bool has_type = (is_word && !is_one_of(before.text, kNoType)) || before.is(">") ||
                        before.is("*") || before.is("&");
  const bool is_another = before.is(",") && (next.is("=") || next.is(";"));  // int t, half = 2;
  return is_named || is_another || (has_type && ends_declarator(next));
}

void take_words(const Tokens& tokens, OwnWords& own) {
  const Partners partners = pair_brackets(tokens);
  own.aliases.take(tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::identifier) continue;
    take_integer_memory(tokens, i, own);
    if (i + 1 >= tokens.size()) continue;
    const Token& next = tokens[i + 1];
    if (token.is("extern") && next.is("__shared__")) take_dynamic_shared(tokens, i + 2, own);
    if (is_one_of(token.text, kNaming)) take_name_behind_brackets(tokens, partners, i, own);
    const bool is_function = defines_function(tokens, partners, i) && !is_any_width(token.text);
    const bool is_declared = is_function || (i > 0 && declares(tokens[i - 1], next));
    if (is_declared) own.words.emplace(token.text);
  }
}

// What stands behind "#define NAME" or "#define NAME(a, b)".
void read_define(const Token& directive, std::size_t line, OwnWords& own,
                 std::vector<Piece>& pieces) {
  Piece piece{.tokens = lex(directive.text.substr(1)),
              .line = line == 0 ? 0 : line + directive.line - 1};
  Tokens& tokens = piece.tokens;
  if (tokens.size() < 2) return;
  if (tokens[0].is("include")) {
    const auto text = directive.text;
    const auto begin = text.find_first_of("<\"");
    const auto end = begin == string_view::npos ? begin : text.find_first_of(">\"", begin + 1);
    const string_view name =
        end == string_view::npos ? string_view() : text.substr(begin + 1, end - begin - 1);
    if (is_known_header(name)) return;
    piece.trouble = "a header whose functions are not known";
    piece.trouble_word = std::string(name);
    tokens.clear();
    pieces.push_back(std::move(piece));
    return;
  }
  if (!tokens[0].is("define") || tokens[1].kind != TokenKind::identifier) return;
  own.words.emplace(tokens[1].text);
  std::size_t body = 2;
  const bool is_function = tokens.size() > 2 && tokens[2].is("(") &&
                           tokens[2].text.data() == tokens[1].text.data() + tokens[1].text.size();
  if (is_function) {
    const std::size_t close = closing(tokens, 2, tokens.size());
    for (std::size_t i = 3; i < close && i < tokens.size(); ++i) {
      if (tokens[i].kind == TokenKind::identifier) own.words.emplace(tokens[i].text);
    }
    body = std::min(close + 1, tokens.size());
  }
  const string_view name = tokens[1].text;
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(body));
  if (!is_function) own.aliases.take_macro(name, tokens);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].is("#") || !tokens[i + 1].is("#")) continue;
    piece.trouble = "a macro puts a word together";
    piece.trouble_word = "##";
  }
  take_words(tokens, own);
  pieces.push_back(std::move(piece));
}

// "#line 12 …": what the line behind it is called.
std::optional<std::size_t> line_behind(const Token& directive) {
  const Tokens words = lex(directive.text.substr(1));
  if (words.size() < 2 || !words[0].is("line") || words[1].kind != TokenKind::number) {
    return std::nullopt;
  }
  std::size_t number = 0;
  const auto text = words[1].text;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

bool is_declarator(const Tokens& tokens, std::size_t i) {
  if (i == 0) return false;
  const Token& before = tokens[i - 1];
  return before.kind == TokenKind::identifier && !is_one_of(before.text, kNoType);
}

void read(string_view text, std::size_t line, OwnWords& own, std::vector<Piece>& pieces) {
  Piece code{.line = line};
  std::size_t shift = 0;  // modulo 2^64
  for (Token& token : lex(text)) {
    token.line += shift;
    if (token.kind == TokenKind::directive) {
      if (const auto next = line_behind(token)) shift += *next - token.line - 1;
      read_define(token, line, own, pieces);
    } else {
      code.tokens.push_back(token);
    }
  }
  take_words(code.tokens, own);
  pieces.push_back(std::move(code));
}

}  // namespace assay::source
