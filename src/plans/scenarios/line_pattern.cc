#include "plans/scenarios/line_pattern.h"

#include <regex.h>

#include <array>
#include <stdexcept>

namespace assay::scenarios {

struct LinePattern::Compiled {
  explicit Compiled(const std::string& expression) {
    const int fault = ::regcomp(&regex, expression.c_str(), REG_EXTENDED | REG_ICASE);
    if (fault == 0) return;
    std::array<char, 200> said{};
    ::regerror(fault, &regex, said.data(), said.size());
    throw std::invalid_argument("'" + expression + "' is no regular expression: " + said.data());
  }
  ~Compiled() { ::regfree(&regex); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  regex_t regex{};
};

LinePattern::LinePattern(const std::string& expression) {
  for (std::size_t at = 0; at < expression.size(); ++at) {
    const bool escapes = expression[at] == '\\' && at + 1 < expression.size();
    const bool is_reference = escapes && expression[at + 1] >= '1' && expression[at + 1] <= '9';
    if (is_reference || expression[at] == '{' || expression[at] == '\0') {
      throw std::invalid_argument("'" + expression +
                                  "': references to groups and counted repeats are not taken");
    }
    if (escapes) ++at;
  }
  compiled_ = std::make_shared<const Compiled>(expression);
}

std::optional<std::size_t> LinePattern::place_in(const std::string& line) const {
  regmatch_t match{};
  if (::regexec(&compiled_->regex, line.c_str(), 1, &match, 0) != 0) return std::nullopt;
  return static_cast<std::size_t>(match.rm_so);
}

}  // namespace assay::scenarios
