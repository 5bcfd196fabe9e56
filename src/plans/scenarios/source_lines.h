// The lines of Dockerfiles and shell scripts as they are meant: continuations joined, comments left
// out, heredocs set apart; and for every letter the line of the file on which it stands. Values;
// any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace assay::scenarios {

// A text whose letters come from several lines of a file.
class Joined {
 public:
  Joined() = default;
  Joined(std::string text, int line) : text_(std::move(text)), starts_({{0, line}}) {}

  void add(const std::string& text, int line) {
    starts_.emplace_back(text_.size(), line);
    text_ += text;
  }
  [[nodiscard]] const std::string& text() const { return text_; }
  // 1-based, of the letter at `offset`.
  [[nodiscard]] int line_at(std::size_t offset) const;
  // Letters [begin, end), without the space around them.
  [[nodiscard]] Joined part(std::size_t begin, std::size_t end) const;

 private:
  using Start = std::pair<std::size_t, int>;  // offset, line
  [[nodiscard]] std::vector<Start>::const_iterator after(std::size_t offset) const;

  std::string text_{};
  std::vector<Start> starts_{};  // in order
};

struct Heredoc {
  std::string text{};
  int first_line = 0;
};

struct LogicalLine {
  Joined code{};
  std::vector<Heredoc> heredocs{};  // that begin on it
};

enum class Dialect { dockerfile, shell };

// One past what is quoted or escaped at `at`; `at` itself if nothing is. A quote that is not closed
// is a letter.
[[nodiscard]] std::size_t past_quoted(const std::string& text, std::size_t at);

// `first_line`: of the file, where `text` begins.
[[nodiscard]] std::vector<LogicalLine> logical_lines(const std::string& text, Dialect dialect,
                                                     int first_line = 1);

}  // namespace assay::scenarios
