// A caller's regular expression, looked for in one line: POSIX extended with \s \S \w \b, letter
// case aside. What could take a machine for ever is refused: references to groups, counted repeats.
// Immutable; any thread.
#pragma once

#include <memory>
#include <string>

namespace assay::scenarios {

class LinePattern {
 public:
  // Throws std::invalid_argument with what is wrong.
  explicit LinePattern(const std::string& expression);
  [[nodiscard]] bool is_in(const std::string& line) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace assay::scenarios
