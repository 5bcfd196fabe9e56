#include "engine/source/token.h"

#include <algorithm>

namespace assay::source {
namespace {

// No template argument list is longer; a file of nothing but '<' must not cost its square.
constexpr std::size_t kMaxAngleTokens = 2048;

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }

char partner(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }

// Whether a space belongs between two tokens in a printed type or expression.
bool spaced(const Token& before, const Token& after) {
  const auto word = [](const Token& token) { return token.kind != TokenKind::punctuation; };
  if (before.is(",")) return true;
  if (word(before) && word(after)) return true;
  if ((before.is("*") || before.is("&") || before.is(">")) && word(after)) return true;
  const auto is_operator = [](const Token& token) {
    return token.is("+") || token.is("-") || token.is("/") || token.is("%") || token.is("==") ||
           token.is("=") || token.is("?") || token.is(":") || token.is("&&") || token.is("||");
  };
  return is_operator(before) || is_operator(after);
}

}  // namespace

std::size_t closing(const Tokens& tokens, std::size_t open, std::size_t end) {
  std::string awaited;
  for (std::size_t i = open; i < end; ++i) {
    if (tokens[i].kind != TokenKind::punctuation) continue;
    if (opens(tokens[i])) {
      awaited += partner(tokens[i].text.front());
    } else if (closes(tokens[i])) {
      if (awaited.empty() || awaited.back() != tokens[i].text.front()) return end;
      awaited.pop_back();
      if (awaited.empty()) return i;
    }
  }
  return end;
}

std::vector<std::size_t> pair_brackets(const Tokens& tokens) {
  std::vector<std::size_t> partners(tokens.size(), tokens.size());
  std::vector<std::size_t> open;
  std::size_t open_braces = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::punctuation) continue;
    if (opens(token)) {
      open.push_back(i);
      if (token.is("{")) ++open_braces;
    } else if (closes(token)) {
      if (token.is("}") && open_braces > 0) {
        while (!tokens[open.back()].is("{")) open.pop_back();
        --open_braces;
      }
      if (open.empty() || partner(tokens[open.back()].text.front()) != token.text.front()) continue;
      partners[i] = open.back();
      partners[open.back()] = i;
      open.pop_back();
    }
  }
  return partners;
}

std::size_t closing_angle(const Tokens& tokens, std::size_t open, std::size_t end) {
  std::size_t depth = 0;
  const std::size_t limit = std::min(end, open + kMaxAngleTokens);
  for (std::size_t i = open; i < limit; ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::punctuation) continue;
    if (token.is("<")) {
      ++depth;
    } else if (token.is(">")) {
      if (--depth == 0) return i;
    } else if (token.is("(") || token.is("[")) {
      i = closing(tokens, i, end);
      if (i == end) return end;
    } else if (token.is(";") || token.is("{") || closes(token) || token.is("&&") ||
               token.is("||")) {
      return end;
    }
  }
  return end;
}

bool is_triple(const Tokens& tokens, std::size_t at, std::string_view bracket) {
  if (at + 2 >= tokens.size()) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!tokens[at + i].is(bracket)) return false;
    if (tokens[at + i].offset != tokens[at].offset + i) return false;
  }
  return true;
}

std::string spelled(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && spaced(tokens[i - 1], tokens[i])) text += ' ';
    text += tokens[i].text;
  }
  return text;
}

std::vector<Range> split_at_commas(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::vector<Range> parts;
  if (begin >= end) return parts;
  std::size_t start = begin;
  for (std::size_t i = begin; i < end; ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::punctuation) continue;
    if (opens(token)) {
      i = std::min(closing(tokens, i, end), end - 1);
    } else if (token.is("<") && i > begin && tokens[i - 1].kind == TokenKind::identifier) {
      const std::size_t close = closing_angle(tokens, i, end);
      if (close < end) i = close;
    } else if (token.is(",")) {
      parts.push_back({start, i});
      start = i + 1;
    }
  }
  parts.push_back({start, end});
  return parts;
}

}  // namespace assay::source
