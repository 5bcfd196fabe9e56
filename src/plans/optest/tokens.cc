#include "plans/optest/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <string_view>

#include "plans/optest/problem.h"

namespace assay::optest {
namespace {

constexpr std::array<std::string_view, 10> kTokens{"chip",    "backend", "case",   "dtype",
                                                   "dtypes",  "shape",   "shapes", "inputs",
                                                   "outputs", "workdir"};

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_';
  });
}

// The N of inputN; nothing if `name` is not `stem` with a number.
std::optional<std::size_t> numbered(std::string_view name, std::string_view stem) {
  if (!name.starts_with(stem) || name.size() == stem.size()) return std::nullopt;
  const std::string_view digits = name.substr(stem.size());
  std::size_t number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::string fault_of(std::string_view token, std::size_t inputs, std::size_t outputs) {
  if (std::find(kTokens.begin(), kTokens.end(), token) != kTokens.end()) return {};
  if (const auto n = numbered(token, "input")) {
    return *n < inputs ? ""
                       : "{" + std::string(token) + "}: there are " + std::to_string(inputs) +
                             " inputs, counted from 0";
  }
  if (const auto n = numbered(token, "output")) {
    return *n < outputs ? ""
                        : "{" + std::string(token) + "}: there are " + std::to_string(outputs) +
                              " outputs, counted from 0";
  }
  std::vector<std::string> known(kTokens.begin(), kTokens.end());
  known.insert(known.end(), {"input0", "output0"});
  const std::string near = closest(std::string(token), known);
  return "unknown token {" + std::string(token) + "}" +
         (near.empty() ? "" : "; did you mean {" + near + "}?");
}

// Calls `plain` with literal text and `token` with the name and offset of each {name}.
void scan(const std::string& text, const std::function<void(std::string_view)>& plain,
          const std::function<void(std::string_view, std::size_t)>& token) {
  const std::string_view all(text);
  for (std::size_t at = 0; at < all.size();) {
    const char letter = all[at];
    if ((letter == '{' || letter == '}') && at + 1 < all.size() && all[at + 1] == letter) {
      plain(all.substr(at, 1));
      at += 2;
      continue;
    }
    const std::size_t end = letter == '{' ? all.find('}', at) : std::string_view::npos;
    if (end != std::string_view::npos && is_name(all.substr(at + 1, end - at - 1))) {
      token(all.substr(at + 1, end - at - 1), at);
      at = end + 1;
      continue;
    }
    // A brace that begins no name, as in a JSON argument, is text.
    plain(all.substr(at, 1));
    ++at;
  }
}

}  // namespace

std::vector<TokenFault> check_tokens(const std::string& text, std::size_t inputs,
                                     std::size_t outputs) {
  std::vector<TokenFault> faults;
  scan(
      text, [](std::string_view) {},
      [&](std::string_view name, std::size_t offset) {
        std::string fault = fault_of(name, inputs, outputs);
        if (!fault.empty()) faults.push_back({offset, std::move(fault)});
      });
  return faults;
}

std::string substitute(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string result;
  scan(
      text, [&](std::string_view plain) { result += plain; },
      [&](std::string_view name, std::size_t) {
        const auto found = values.find(std::string(name));
        if (found != values.end()) result += found->second;
      });
  return result;
}

std::optional<std::vector<std::string>> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    const bool has_next = at + 1 < text.size();
    if (quote != 0) {
      const bool escapes = quote == '"' && letter == '\\' && has_next &&
                           (text[at + 1] == '"' || text[at + 1] == '\\');
      if (letter == quote)
        quote = 0;
      else
        word += escapes ? text[++at] : letter;
    } else if (letter == '\'' || letter == '"') {
      quote = letter;
      in_word = true;
    } else if (letter == '\\' && has_next) {
      word += text[++at];
      in_word = true;
    } else if (letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += letter;
      in_word = true;
    }
  }
  if (quote != 0) return std::nullopt;
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace assay::optest
