#include "engine/source/parameter.h"

#include <algorithm>
#include <array>

namespace assay::source {
namespace {

constexpr std::array<std::string_view, 14> kTypeWords{
    "void", "bool",     "char",   "short",   "int",     "long",     "float",
    "half", "unsigned", "signed", "wchar_t", "__int64", "char16_t", "char32_t"};
constexpr std::size_t kMaxAliasChain = 8;

bool is_restrict(std::string_view word) {
  return word == "__restrict__" || word == "__restrict" || word == "restrict";
}

bool is_qualifier(std::string_view word) {
  return word == "const" || word == "volatile" || word == "register" || is_restrict(word) ||
         word == "__grid_constant__" || word == "struct" || word == "class" || word == "enum" ||
         word == "typename" || word == "__global" || word == "__const__";
}

// [[…]] and __attribute__((…)), alignas(…): index behind it, or `at`.
std::size_t skip_attribute(const Tokens& tokens, std::size_t at, std::size_t end) {
  const bool bracketed = tokens[at].is("[") && at + 1 < end && tokens[at + 1].is("[");
  const bool called =
      (tokens[at].is("__attribute__") || tokens[at].is("alignas") || tokens[at].is("__align__")) &&
      at + 1 < end && tokens[at + 1].is("(");
  if (!bracketed && !called) return at;
  const std::size_t close = closing(tokens, bracketed ? at : at + 1, end);
  return close == end ? at : close + 1;
}

// The pieces of a declarator, collected left to right.
struct Pieces {
  Tokens type{};  // without qualifiers, pointers and the name
  Tokens spelled{};
  std::vector<std::size_t> words{};  // indexes into `type` of identifiers at depth 0
  Token name{};
  bool has_name = false;
};

void take_nested_declarator(const Tokens& tokens, std::size_t open, std::size_t close,
                            Pieces& pieces, Parameter& out) {
  // (*name)[N] and (*name)(…): both are addresses to a kernel.
  for (std::size_t i = open + 1; i < close; ++i) {
    if (tokens[i].is("*")) ++out.pointer_depth;
    if (tokens[i].is("&")) out.is_reference = true;
    if (tokens[i].kind == TokenKind::identifier && !is_qualifier(tokens[i].text)) {
      pieces.name = tokens[i];
      pieces.has_name = true;
      continue;
    }
    if (is_restrict(tokens[i].text)) out.is_restrict = true;
  }
  for (std::size_t i = open; i <= close; ++i) {
    if (!pieces.has_name || tokens[i].text.data() != pieces.name.text.data()) {
      pieces.spelled.push_back(tokens[i]);
    }
  }
}

void take_qualifier(const Token& token, Parameter& out) {
  if (is_restrict(token.text)) out.is_restrict = true;
  // const behind the star makes the pointer constant, not what it points to.
  if (token.is("const") && out.pointer_depth == 0) out.is_const = true;
}

// What stands in brackets from `open`; gives the last token of it, or `end` if they do not close.
std::size_t take_bracketed(const Tokens& tokens, std::size_t open, std::size_t end, Pieces& pieces,
                           Parameter& out) {
  if (tokens[open].is("(")) {
    const std::size_t close = closing(tokens, open, end);
    if (close == end) return end;
    if (open + 1 < close && (tokens[open + 1].is("*") || tokens[open + 1].is("&")))
      take_nested_declarator(tokens, open, close, pieces, out);
    return close;
  }
  const bool is_array = tokens[open].is("[");
  const std::size_t close =
      is_array ? closing(tokens, open, end) : closing_angle(tokens, open, end);
  if (is_array && out.pointer_depth == 0 && !out.is_reference) ++out.pointer_depth;
  for (std::size_t k = open; k <= std::min(close, end - 1); ++k) {
    if (!is_array) pieces.type.push_back(tokens[k]);
    pieces.spelled.push_back(tokens[k]);
  }
  return close;
}

void take_plain(const Token& token, Pieces& pieces, Parameter& out) {
  const bool is_word = token.kind == TokenKind::identifier;
  if (token.is("*")) {
    ++out.pointer_depth;
  } else if (token.is("&") || token.is("&&")) {
    out.is_reference = true;
  } else if (token.is("...")) {
    out.is_pack = true;
  } else if (is_word && is_qualifier(token.text)) {
    take_qualifier(token, out);
    if (token.is("__grid_constant__")) return;
  } else {
    if (is_word) pieces.words.push_back(pieces.type.size());
    pieces.type.push_back(token);
  }
  pieces.spelled.push_back(token);
}

Pieces collect(const Tokens& tokens, std::size_t begin, std::size_t end, Parameter& out) {
  Pieces pieces;
  for (std::size_t i = begin; i < end; ++i) {
    if (const std::size_t behind = skip_attribute(tokens, i, end); behind != i) {
      i = behind - 1;
      continue;
    }
    const Token& token = tokens[i];
    const bool is_bracketed =
        token.is("(") || token.is("[") || (token.is("<") && !pieces.type.empty());
    if (is_bracketed) {
      i = take_bracketed(tokens, i, end, pieces, out);
    } else {
      take_plain(token, pieces, out);
    }
  }
  return pieces;
}

// The last word is the name, unless it is all the type there is.
void take_name(Pieces& pieces) {
  if (pieces.has_name || pieces.words.size() < 2) return;
  const std::size_t last = pieces.words.back();
  if (last + 1 != pieces.type.size() || is_type_word(pieces.type[last].text)) return;
  if (last > 0 && pieces.type[last - 1].is("::")) return;
  pieces.name = pieces.type[last];
  pieces.has_name = true;
  pieces.type.pop_back();
  std::erase_if(pieces.spelled,
                [&](const Token& token) { return token.text.data() == pieces.name.text.data(); });
}

void resolve_aliases(Tokens& type, const Aliases& aliases, Parameter& out) {
  for (std::size_t chain = 0; chain < kMaxAliasChain && type.size() == 1; ++chain) {
    const auto found = aliases.find(type[0].text);
    if (found == aliases.end()) return;
    Tokens next;
    for (const Token& token : found->second) {
      if (token.is("*")) {
        ++out.pointer_depth;
      } else if (is_qualifier(token.text)) {
        take_qualifier(token, out);
      } else {
        next.push_back(token);
      }
    }
    if (next.empty()) return;
    type = std::move(next);
  }
}

}  // namespace

bool is_type_word(std::string_view word) {
  return word == "double" ||
         std::find(kTypeWords.begin(), kTypeWords.end(), word) != kTypeWords.end();
}

Aliases find_aliases(const Tokens& tokens) {
  Aliases aliases;
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i) {
    if (tokens[i].is("using") && tokens[i + 1].kind == TokenKind::identifier &&
        tokens[i + 2].is("=")) {
      std::size_t end = i + 3;
      while (end < tokens.size() && end < i + 32 && !tokens[end].is(";")) ++end;
      if (end < tokens.size() && tokens[end].is(";")) {
        aliases[tokens[i + 1].text] = Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 3,
                                             tokens.begin() + static_cast<std::ptrdiff_t>(end));
      }
    } else if (tokens[i].is("typedef")) {
      std::size_t end = i + 1;
      while (end < tokens.size() && end < i + 32 && !tokens[end].is(";") && !tokens[end].is("{")) {
        ++end;
      }
      const bool plain = end < tokens.size() && tokens[end].is(";") && end > i + 2 &&
                         tokens[end - 1].kind == TokenKind::identifier;
      if (plain) {
        aliases[tokens[end - 1].text] =
            Tokens(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                   tokens.begin() + static_cast<std::ptrdiff_t>(end) - 1);
      }
    }
  }
  return aliases;
}

std::optional<Parameter> read_parameter(const Tokens& tokens, Range range, const Aliases& aliases) {
  if (range.begin >= range.end) return std::nullopt;
  Parameter out;
  std::size_t end = range.end;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (!tokens[i].is("=")) continue;
    out.default_value = spelled(tokens, i + 1, range.end);
    end = i;
    break;
  }
  Pieces pieces = collect(tokens, range.begin, end, out);
  take_name(pieces);
  if (pieces.type.empty() && pieces.spelled.empty()) return std::nullopt;
  const bool is_void = pieces.type.size() == 1 && pieces.type[0].is("void");
  if (is_void && !out.is_pointer() && !pieces.has_name) return std::nullopt;
  out.name = std::string(pieces.name.text);
  out.line = tokens[range.begin].line;
  out.spelled = spelled(pieces.spelled, 0, pieces.spelled.size());
  resolve_aliases(pieces.type, aliases, out);
  out.type = spelled(pieces.type, 0, pieces.type.size());
  return out;
}

std::vector<TemplateParameter> read_template_parameters(const Tokens& tokens, Range range) {
  std::vector<TemplateParameter> parameters;
  for (const Range part : split_at_commas(tokens, range.begin, range.end)) {
    TemplateParameter parameter;
    std::size_t end = part.end;
    for (std::size_t i = part.begin; i < part.end; ++i) {
      if (!tokens[i].is("=")) continue;
      parameter.default_value = spelled(tokens, i + 1, part.end);
      end = i;
      break;
    }
    if (end == part.begin) continue;
    const Token& last = tokens[end - 1];
    const bool named =
        last.kind == TokenKind::identifier && end - part.begin > 1 && !is_type_word(last.text);
    if (named) parameter.name = std::string(last.text);
    parameter.kind = spelled(tokens, part.begin, named ? end - 1 : end);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace assay::source
