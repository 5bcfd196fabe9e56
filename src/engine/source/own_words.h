// The words that a source gives a meaning of its own: functions, types, variables and macros that
// it defines. A variable called `half` is no type, a function called `clampf` no library's. Private
// to this room; pure; any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/token.h"
#include "engine/source/type_alias.h"

namespace assay::source {

// Tokens that belong together: all that is no directive, or what one #define stands for.
struct Piece {
  Tokens tokens{};        // views of the text; their lines count from 1
  std::size_t line = 1;   // of their first line; 0: in no source
  std::string trouble{};  // why a directive cannot be followed, if it cannot
  std::string trouble_word{};
};

struct OwnWords {
  std::set<std::string, std::less<>> words{};
  std::set<std::string, std::less<>> dynamic_shared{};  // extern __shared__ arrays
  std::set<std::string, std::less<>> dynamic_bytes{};   // of these, the ones of bytes
  std::set<std::string, std::less<>> integer_memory{};  // pointers to and arrays of integers
  TypeAliases aliases{};

  [[nodiscard]] bool contains(std::string_view word) const { return words.contains(word); }
};

// Whether the word at `i`, which a '(' follows, is being declared: "float4 v(…)", "int f(…)".
[[nodiscard]] bool is_declarator(const Tokens& tokens, std::size_t i);

// Appends the pieces of `text` and what it defines. `line`: as Piece has it.
void read(std::string_view text, std::size_t line, OwnWords& own, std::vector<Piece>& pieces);

}  // namespace assay::source
