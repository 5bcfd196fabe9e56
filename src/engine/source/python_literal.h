// What one Python string literal stands for: escapes undone as Python does for its prefix, an
// f-string's replacement fields set apart. What cannot be decided by reading is said, not guessed.
//
// Borrows the token's file. Pure; any thread; linear.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/source/lined_text.h"
#include "engine/source/python_token.h"

namespace assay::source {

struct LiteralPart {
  LinedText text{};  // of a field: as it is spelled, braces included
  bool is_field = false;
  std::string_view expression{};  // of a field, between '{' and ':' or '}'
  std::string_view format{};      // of a field: "!r", ":4d", "="; "" if it has none
  std::size_t line = 1;
};

struct Literal {
  std::vector<LiteralPart> parts{};
  std::string doubt{};  // why the parts are not all that Python would make of it; "" if they are
};

// REQUIRES a token of kind text.
[[nodiscard]] Literal read_literal(const PythonToken& token);

}  // namespace assay::source
