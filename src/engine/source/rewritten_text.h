// A text with pieces put in the place of others, of which every line keeps its number: line ends of
// what goes stay, and the backslashes that hide them in a directive.
//
// Borrows the text. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

class RewrittenText {
 public:
  explicit RewrittenText(std::string_view original) : original_(original) {}

  // [begin, end) becomes `text` and its own line ends.
  void replace(std::size_t begin, std::size_t end, std::string text);
  void insert(std::size_t at, std::string text) { replace(at, at, std::move(text)); }

  // Pieces of one place stand in the order they were put in; one inside another is dropped.
  [[nodiscard]] std::string text();

 private:
  struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text{};
  };

  const std::string_view original_;
  std::vector<Edit> edits_{};
};

}  // namespace assay::source
