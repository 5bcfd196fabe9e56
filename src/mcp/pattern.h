// The `pattern` keyword: a regular expression matched in time linear in the text and without
// recursion on it, because the text is the client's. (std::regex recurses per character and
// backtracks.) Syntax: literals, escapes, . [] | () (?:) * + ? {m,n} ^ $ \d \w \s and their
// negations; matched by code point, unanchored, as JSON Schema wants. No lookaround, no
// back-references. Immutable after construction: any number of threads may match at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace assay::mcp {

class Pattern {
 public:
  // Throws std::invalid_argument on what it does not understand: patterns come from our own
  // schemas.
  explicit Pattern(std::string_view expression);

  // `text` is UTF-8; a bad byte counts as one character that only `.` and negated classes match.
  [[nodiscard]] bool found_in(std::string_view text) const;

  struct Range {
    char32_t first = 0;
    char32_t last = 0;
  };
  struct Class {
    std::vector<Range> ranges{};
    bool negated = false;
    [[nodiscard]] bool has(char32_t c) const;
  };
  struct Step {
    enum class Kind { character, fork, jump, begin, end, match };
    Kind kind = Kind::match;
    std::uint32_t a = 0;  // class of `character`; first target of `fork`, target of `jump`
    std::uint32_t b = 0;  // second target of `fork`
  };

 private:
  std::vector<Step> steps_{};
  std::vector<Class> classes_{};
};

}  // namespace assay::mcp
