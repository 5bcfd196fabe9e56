#include "engine/source/python_text.h"

#include <algorithm>

#include "engine/source/token.h"

namespace assay::source {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\'; }

class Reader {
 public:
  explicit Reader(std::string_view file) : file_(file) {}

  std::vector<PythonString> run() {
    while (at_ < file_.size()) step();
    for (PythonString& text : found_) {
      if (text.keyword.empty() && !text.variable.empty()) text.keyword = keyword_for(text.variable);
    }
    return std::move(found_);
  }

 private:
  void advance_to(std::size_t end) {
    for (; at_ < end && at_ < file_.size(); ++at_) {
      if (file_[at_] == '\n') ++line_;
    }
  }

  void step() {
    const char c = file_[at_];
    if (c == '#') {
      advance_to(std::min(file_.find('\n', at_), file_.size()));
    } else if (c == '"' || c == '\'') {
      string({});
    } else if (is_word_start(c)) {
      std::size_t end = at_;
      while (end < file_.size() && is_word(file_[end])) ++end;
      const std::string_view word = file_.substr(at_, end - at_);
      at_ = end;
      const bool quoted = end < file_.size() && (file_[end] == '"' || file_[end] == '\'');
      if (quoted && word.size() <= 2) return string(word);
      note_name(word, end);
    } else {
      if (c != '=' && c != '(' && c != '[' && !is_space(c)) pending_.clear();
      advance_to(at_ + 1);
    }
  }

  // "name =" makes the next string its value; "keyword = name" ties the two.
  void note_name(std::string_view word, std::size_t end) {
    std::size_t next = end;
    while (next < file_.size() && (file_[next] == ' ' || file_[next] == '\t')) ++next;
    const bool assigned = next + 1 < file_.size() && file_[next] == '=' && file_[next + 1] != '=';
    if (assigned) {
      pending_ = std::string(word);
    } else if (!pending_.empty()) {
      uses_.emplace_back(pending_, std::string(word));
    }
  }

  void string(std::string_view prefix) {
    const char quote = file_[at_];
    const bool triple = file_.substr(at_, 3) == std::string(3, quote);
    const std::string close(triple ? 3 : 1, quote);
    const std::size_t begin = at_ + close.size();
    std::size_t end = begin;
    while (end < file_.size() && file_.substr(end, close.size()) != close) {
      if (!triple && file_[end] == '\n') break;
      end += file_[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, file_.size());
    const auto has = [&](char lower) {
      return std::any_of(prefix.begin(), prefix.end(), [&](char c) { return (c | 0x20) == lower; });
    };
    advance_to(begin);
    found_.push_back({.content = file_.substr(begin, end - begin),
                      .offset = begin,
                      .line = line_,
                      .is_raw = has('r'),
                      .is_formatted = has('f'),
                      .variable = pending_,
                      .keyword = is_source_keyword(pending_) ? pending_ : std::string()});
    advance_to(std::min(end + close.size(), file_.size()));
  }

  static bool is_source_keyword(std::string_view name) {
    return name == "cuda_sources" || name == "cpp_sources" || name == "cuda_source" ||
           name == "cpp_source";
  }

  [[nodiscard]] std::string keyword_for(const std::string& variable) const {
    for (const auto& [keyword, name] : uses_) {
      if (name == variable && is_source_keyword(keyword)) return keyword;
    }
    return {};
  }

  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::string pending_{};
  std::vector<std::pair<std::string, std::string>> uses_{};
  std::vector<PythonString> found_{};
};

}  // namespace

bool PythonString::holds_kernels() const {
  return content.find("__global__") != std::string_view::npos;
}

std::vector<PythonString> python_strings(std::string_view file) { return Reader(file).run(); }

bool looks_like_python(std::string_view file) {
  std::size_t signs = 0;
  bool fresh = true;
  for (std::size_t i = 0; i < file.size();) {
    const auto end = std::min(file.find('\n', i), file.size());
    const std::string_view line = file.substr(i, end - i);
    const auto starts = [&](std::string_view word) { return line.substr(0, word.size()) == word; };
    if (fresh && (starts("#include") || starts("#pragma") || starts("#define") || starts("//") ||
                  starts("__global__") || starts("template"))) {
      return false;
    }
    const bool sign =
        (starts("import ") && line.find(';') == std::string_view::npos) ||
        (starts("from ") && line.find(" import ") != std::string_view::npos) ||
        ((starts("def ") || starts("class ")) && line.find(':') != std::string_view::npos &&
         line.find(';') == std::string_view::npos && line.find('{') == std::string_view::npos);
    if (sign) ++signs;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && !starts("#")) fresh = false;
    i = end + 1;
  }
  if (signs > 0) return true;
  // No import: `name = """ … """` before the first kernel.
  const auto strings = python_strings(file);
  return std::any_of(strings.begin(), strings.end(), [](const PythonString& text) {
    return !text.variable.empty() && text.holds_kernels();
  });
}

}  // namespace assay::source
