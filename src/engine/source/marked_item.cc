#include "engine/source/marked_item.h"

namespace assay::source {
namespace {

// The last token of what begins at `at`: of brackets, or of template parameters, whose defaults
// have a '=', too.
std::size_t behind_brackets(const Tokens& tokens, const std::vector<std::size_t>& partners,
                            std::size_t at) {
  const Token& token = tokens[at];
  if (token.is("template") && at + 1 < tokens.size() && tokens[at + 1].is("<")) {
    const std::size_t close = closing_angle(tokens, at + 1, tokens.size());
    return close < tokens.size() ? close : at;
  }
  return token.is("(") || token.is("[") || token.is("{") ? partners[at] : at;
}

void add(const Marks& more, Marks& marks) {
  marks.global |= more.global;
  marks.device |= more.device;
  marks.host |= more.host;
  marks.managed |= more.managed;
}

Marks marks_of_word(const Token& word) {
  return {.global = word.is("__global__"),
          .device = word.is("__device__") || word.is("__constant__") || word.is("__managed__") ||
                    word.is("__shared__"),
          .host = word.is("__host__"),
          .managed = word.is("__managed__")};
}

}  // namespace

Marks marks_of(const Token& word, const Unit& unit) {
  Marks marks = marks_of_word(word);
  const auto macro = unit.macros.find(word.text);
  // One that makes a whole function is read where it is defined.
  if (macro == unit.macros.end() || macro->second.is_function) return marks;
  for (const Token& meant : macro->second.body) add(marks_of_word(meant), marks);
  return marks;
}

std::size_t head_of(const Tokens& tokens, std::size_t at) {
  std::size_t begin = at;
  for (; begin > 0; --begin) {
    const Token& before = tokens[begin - 1];
    if (before.is(";") || before.is("}") || before.is("{") || before.kind == TokenKind::directive) {
      break;
    }
    const bool is_access = before.is(":") && begin > 1 &&
                           (tokens[begin - 2].is("public") || tokens[begin - 2].is("private") ||
                            tokens[begin - 2].is("protected"));
    if (is_access) break;
  }
  return begin;
}

RestOfItem rest_of_item(const Tokens& tokens, const std::vector<std::size_t>& partners,
                        std::size_t begin, const Unit& unit) {
  Marks marks;
  bool is_assigned = false;
  bool is_function = false;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.is(";")) return {i + 1, marks};
    if (token.is("}") || (token.kind == TokenKind::directive && i > begin)) return {i, marks};
    is_assigned |= token.is("=");
    is_function |= token.is("(");
    const bool is_word = token.kind == TokenKind::identifier;
    if (!is_assigned && is_word) add(marks_of(token, unit), marks);
    i = behind_brackets(tokens, partners, i);
    if (i >= tokens.size()) break;
    const bool is_body = tokens[i].is("}") && !is_assigned && is_function;
    if (is_body) return {i + 1 < tokens.size() && tokens[i + 1].is(";") ? i + 2 : i + 1, marks};
  }
  return {tokens.size(), marks};
}

}  // namespace assay::source
