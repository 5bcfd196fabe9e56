// A caller's regular expression, looked for in one line: POSIX extended with \s \S \w \b, letter
// case aside. What could take a machine for ever is refused: references to groups, counted repeats.
// Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace assay::scenarios {

class LinePattern {
 public:
  // Throws std::invalid_argument with what is wrong.
  explicit LinePattern(const std::string& expression);
  // Where it begins in `line`; nothing if it is not there.
  [[nodiscard]] std::optional<std::size_t> place_in(const std::string& line) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace assay::scenarios
