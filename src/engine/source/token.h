// CUDA C++ as a list of tokens, by reading alone: comments gone, strings and raw strings whole,
// each preprocessor directive one token. No compiler is asked and nothing is judged: garbage gives
// tokens too, and every byte that is no space and no comment belongs to exactly one of them.
//
// Views borrow the source. Pure; any thread; linear in time and memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

enum class TokenKind : std::uint8_t {
  identifier,
  number,
  text,       // "…", R"x(…)x", with its prefix
  character,  // 'x'
  punctuation,
  directive  // # to the end of its logical line, without a trailing comment
};

struct Token {
  TokenKind kind = TokenKind::punctuation;
  std::string_view text{};
  std::size_t offset = 0;  // of the first byte, where it is spelled
  std::size_t line = 1;    // 1-based; of the use, for what a macro made

  [[nodiscard]] bool is(std::string_view spelling) const { return text == spelling; }
};

using Tokens = std::vector<Token>;

// '<' and '>' are always single: templates close with ">>", launches open with "<<<"; only "<=",
// ">=", "<<=" and ">>=" are kept whole.
[[nodiscard]] Tokens lex(std::string_view source);

[[nodiscard]] bool is_word_start(char c);
[[nodiscard]] bool is_word(char c);

// Index of the bracket that closes the one at `open` ( ( [ { ), or `end` if none does. Brackets of
// other kinds on the way must pair up too.
[[nodiscard]] std::size_t closing(const Tokens& tokens, std::size_t open, std::size_t end);

// For every bracket the index of its partner, else the number of tokens. A stray ')' closes
// nothing; a '}' closes its '{' though a '(' in between was left open. Linear, where closing() is
// for short stretches.
[[nodiscard]] std::vector<std::size_t> pair_brackets(const Tokens& tokens);

// Like closing() for the '<' of template arguments at `open`: parentheses inside hide their '>', a
// ';' or '{' ends the search. `end` if this '<' is a comparison.
[[nodiscard]] std::size_t closing_angle(const Tokens& tokens, std::size_t open, std::size_t end);

// Three '<' (or '>') without a space between, from index `at`.
[[nodiscard]] bool is_triple(const Tokens& tokens, std::size_t at, std::string_view bracket);

// The tokens [begin, end) as people would write them: "const float* __restrict__", "ceil(n, 4)".
[[nodiscard]] std::string spelled(const Tokens& tokens, std::size_t begin, std::size_t end);

// [begin, end) split at the commas outside of brackets and template arguments. Nothing if empty.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] std::vector<Range> split_at_commas(const Tokens& tokens, std::size_t begin,
                                                 std::size_t end);

}  // namespace assay::source
