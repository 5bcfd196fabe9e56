// The words of compact text: what stands between its separators, brackets and quotes kept whole,
// and calls such as uniform(-1, 1, seed=2). Private to compact_reading.cc.
//
// Views borrow the text. Pure; any thread; linear.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::contract::compact {

[[nodiscard]] bool is_blank(char c);
[[nodiscard]] std::string_view trim(std::string_view text);

// One past the quote that closes the one at `quote`, or the text's end.
[[nodiscard]] std::size_t end_of_string(std::string_view text, std::size_t quote);

// Calls take(begin, end) for the pieces of `text` between separators outside of brackets and
// quotes.
template <typename IsSeparator, typename Take>
void split(std::string_view text, const IsSeparator& is_separator, const Take& take) {
  std::size_t start = 0;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i) - 1;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if ((c == ')' || c == ']') && depth > 0) {
      --depth;
    } else if (is_separator(text, i, depth)) {
      take(start, i);
      start = i + 1;
    }
  }
  take(start, text.size());
}

[[nodiscard]] std::vector<std::string_view> comma_parts(std::string_view text);

// Of a statement's tail: "uniform(-1, 1, seed=2)" is one, "strides=[k, 1]" too.
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);

struct Call {
  std::string_view name{};
  std::vector<std::string_view> positional{};
  std::vector<std::pair<std::string_view, std::string_view>> named{};
};

// Where the '=' of name=value stands.
[[nodiscard]] std::optional<std::size_t> assignment(std::string_view text);
[[nodiscard]] std::optional<Call> read_call(std::string_view text);

}  // namespace assay::contract::compact
