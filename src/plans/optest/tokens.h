// `{name}` in a command: replaced literally inside one argument, never seen by a shell. `{{` and
// `}}` are braces. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay::optest {

struct TokenFault {
  std::size_t offset = 0;  // in the text
  std::string message{};
};

// Which tokens of `text` are none, or stand for more files than there are.
[[nodiscard]] std::vector<TokenFault> check_tokens(const std::string& text, std::size_t inputs,
                                                   std::size_t outputs);

// REQUIRES that check_tokens() found nothing. A token without a value is left out.
[[nodiscard]] std::string substitute(const std::string& text,
                                     const std::map<std::string, std::string>& values);

// A command given as one text, cut into words as a POSIX shell would: quotes and backslashes, and
// nothing else. Nothing: a quote is open at the end.
[[nodiscard]] std::optional<std::vector<std::string>> split_words(const std::string& text);

}  // namespace assay::optest
