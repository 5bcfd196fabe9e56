#include "plans/scenarios/jsonc.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

namespace assay::scenarios {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 200;

// Where the comment at `begin` ends; nothing if there is none.
std::optional<std::size_t> comment_end(const std::string& text, std::size_t begin) {
  if (text[begin] != '/' || begin + 1 >= text.size()) return std::nullopt;
  const bool is_block = text[begin + 1] == '*';
  if (!is_block && text[begin + 1] != '/') return std::nullopt;
  const std::size_t close = text.find(is_block ? "*/" : "\n", begin + 2);
  return close == std::string::npos ? text.size() : close + (is_block ? 2 : 0);
}

// Behind the closing quote of the string that opens at `begin`.
std::size_t string_end(const std::string& text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Comments become spaces and trailing commas go; lines stay where they are.
std::string without_comments(const std::string& text) {
  std::string plain = text;
  std::size_t comma = std::string::npos;  // the last one, while nothing but space came after it
  for (std::size_t at = 0; at < plain.size();) {
    const char letter = plain[at];
    if (const auto end = comment_end(plain, at)) {
      for (; at < *end; ++at) {
        if (plain[at] != '\n') plain[at] = ' ';
      }
      continue;
    }
    if ((letter == '}' || letter == ']') && comma != std::string::npos) plain[comma] = ' ';
    const bool is_space = letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
    if (!is_space) comma = letter == ',' ? at : std::string::npos;
    at = letter == '"' ? string_end(plain, at) : at + 1;
  }
  return plain;
}

std::string escaped(const std::string& key) {
  std::string text;
  for (const char letter : key)
    text += letter == '~' ? "~0" : letter == '/' ? "~1" : std::string(1, letter);
  return text;
}

// Walks over JSON that is known to be right and notes where its members begin.
class LineFinder {
 public:
  LineFinder(const std::string& text, std::map<std::string, int>& lines)
      : text_(text), lines_(lines) {}
  void run() { value("", 0); }

 private:
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) {
      if (text_[at_++] == '\n') ++line_;
    }
  }

  std::string string() {
    const std::size_t begin = at_++;
    while (text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return json::parse(text_.substr(begin, at_ - begin)).get<std::string>();
  }

  void value(const std::string& pointer, int depth) {
    if (depth > kMaxDepth) throw std::runtime_error("nested too deeply");
    skip_space();
    lines_.emplace(pointer, line_);
    const char letter = text_[at_];
    if (letter == '{' || letter == '[') return container(pointer, depth, letter == '{');
    if (letter == '"') {
      string();
      return;
    }
    while (at_ < text_.size() &&
           std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos)
      ++at_;
  }

  void container(const std::string& pointer, int depth, bool is_object) {
    ++at_;
    for (std::size_t index = 0;; ++index) {
      skip_space();
      if (text_[at_] == '}' || text_[at_] == ']') break;
      std::string key = std::to_string(index);
      if (is_object) {
        lines_.emplace(pointer + "/" + escaped(peek_key()), line_);
        key = escaped(string());
        skip_space();
        ++at_;  // the colon
      }
      value(pointer + "/" + key, depth + 1);
      skip_space();
      if (text_[at_] == ',') ++at_;
    }
    ++at_;
  }

  std::string peek_key() {
    const std::size_t begin = at_;
    std::string key = string();
    at_ = begin;
    return key;
  }

  const std::string& text_;
  std::map<std::string, int>& lines_;
  std::size_t at_ = 0;
  int line_ = 1;
};

int line_at(const std::string& text, std::size_t byte) {
  int line = 1;
  for (std::size_t i = 0; i < text.size() && i < byte; ++i) line += text[i] == '\n' ? 1 : 0;
  return line;
}

}  // namespace

std::variant<Jsonc, JsoncFault> parse_jsonc(const std::string& text) {
  const std::string plain = without_comments(text);
  Jsonc parsed;
  try {
    parsed.document = json::parse(plain);
    LineFinder(plain, parsed.lines).run();
  } catch (const json::parse_error& error) {
    return JsoncFault{line_at(plain, error.byte), error.what()};
  } catch (const std::runtime_error& error) {
    return JsoncFault{1, error.what()};
  }
  return parsed;
}

}  // namespace assay::scenarios
