// A source as its compiler's parser would see it, as far as the source alone tells: #define-d
// macros expanded (function-like ones and ## too), what #if 0 and unmet #ifdef hide left out.
// Unlike a preprocessor it reads no header, and takes the first branch of a condition it cannot
// decide.
//
// Owns the tokens that macros made; views borrow the source. Bounded: expansion stops at a budget
// and then leaves names as they are.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "engine/source/token.h"

namespace assay::source {

struct Macro {
  bool is_function = false;
  bool is_variadic = false;
  std::vector<std::string_view> parameters{};
  Tokens body{};
};

struct Unit {
  Tokens tokens{};                                          // no directives
  std::map<std::string_view, Macro, std::less<>> macros{};  // as defined at the end of the source
  std::deque<std::string> pasted{};                         // what ## joined; tokens point into it

  Unit() = default;
  Unit(Unit&&) = default;
  Unit& operator=(Unit&&) = default;
};

[[nodiscard]] Unit preprocess(std::string_view source);

}  // namespace assay::source
