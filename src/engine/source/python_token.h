// Python's tokens, as far as a reader of string expressions needs them: names, numbers, string
// literals whole, operators one character each, and the ends of logical lines. Comments and line
// joining (brackets, a backslash at a line's end) are Python's own.
//
// Views borrow the file. Pure; any thread; linear; any bytes give tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::source {

enum class PythonTokenKind : std::uint8_t { name, number, text, punctuation, line_end };

struct PythonToken {
  PythonTokenKind kind = PythonTokenKind::punctuation;
  std::string_view text{};    // of a string: what stands between its quotes
  std::string_view prefix{};  // of a string: "", "r", "Rb", "f" …
  std::size_t line = 1;       // of the first byte; of a string: of its contents' first byte
  std::size_t indent = 0;     // of its logical line, in columns
  bool is_closed = true;      // of a string: its closing quote was found

  [[nodiscard]] bool is(std::string_view spelling) const {
    return kind != PythonTokenKind::text && text == spelling;
  }
};

[[nodiscard]] std::vector<PythonToken> python_tokens(std::string_view file);

}  // namespace assay::source
