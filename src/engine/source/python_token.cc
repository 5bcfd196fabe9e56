#include "engine/source/python_token.h"

#include <algorithm>
#include <string>

#include "engine/source/token.h"

namespace assay::source {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }
bool is_name_byte(char c) { return is_word(c) || (static_cast<unsigned char>(c) & 0x80U) != 0; }

bool has_letter(std::string_view prefix, char lower) {
  return std::any_of(prefix.begin(), prefix.end(),
                     [&](char c) { return static_cast<char>(c | 0x20) == lower; });
}

// r, b, u, f, t and their pairs.
bool is_prefix(std::string_view word) {
  return word.size() <= 2 && std::all_of(word.begin(), word.end(), [](char c) {
           return std::string_view("rRbBuUfFtT").find(c) != std::string_view::npos;
         });
}

class Lexer {
 public:
  explicit Lexer(std::string_view file) : file_(file) {}

  std::vector<PythonToken> run() {
    while (at_ < file_.size()) step();
    end_line();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char here(std::size_t ahead = 0) const {
    return at_ + ahead < file_.size() ? file_[at_ + ahead] : '\0';
  }

  void add(PythonTokenKind kind, std::string_view text, std::string_view prefix = {}) {
    if (is_line_start_) indent_ = at_ - line_begin_;
    is_line_start_ = false;
    tokens_.push_back(
        {.kind = kind, .text = text, .prefix = prefix, .line = line_, .indent = indent_});
  }

  void end_line() {
    if (tokens_.empty() || tokens_.back().kind == PythonTokenKind::line_end) return;
    add(PythonTokenKind::line_end, {});
    is_line_start_ = true;
  }

  void newline() {
    ++at_;
    if (depth_ == 0) end_line();
    ++line_;
    line_begin_ = at_;
  }

  void step() {
    const char c = here();
    if (c == '\n') return newline();
    if (is_blank(c)) {
      ++at_;
    } else if (c == '\\' && (here(1) == '\n' || (here(1) == '\r' && here(2) == '\n'))) {
      at_ += here(1) == '\n' ? 2 : 3;
      ++line_;
    } else if (c == '#') {
      at_ = std::min(file_.find('\n', at_), file_.size());
    } else if (c == '"' || c == '\'') {
      string({});
    } else if (is_digit(c)) {
      const std::size_t begin = at_;
      while (is_word(here()) || here() == '.') ++at_;
      number(begin);
    } else if (is_name_byte(c)) {
      word();
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if ((c == ')' || c == ']' || c == '}') && depth_ > 0) --depth_;
      add(PythonTokenKind::punctuation, file_.substr(at_, 1));
      ++at_;
    }
  }

  void number(std::size_t begin) {
    const std::size_t end = at_;
    at_ = begin;
    add(PythonTokenKind::number, file_.substr(begin, end - begin));
    at_ = end;
  }

  void word() {
    const std::size_t begin = at_;
    std::size_t end = at_;
    while (end < file_.size() && is_name_byte(file_[end])) ++end;
    const std::string_view text = file_.substr(begin, end - begin);
    const bool is_quoted = end < file_.size() && (file_[end] == '"' || file_[end] == '\'');
    if (is_quoted && is_prefix(text)) return string(text);
    add(PythonTokenKind::name, text);
    at_ = end;
  }

  // Where the contents that begin at `begin` end; npos if nothing closes them.
  [[nodiscard]] std::size_t closing_quote(std::size_t begin, std::string_view close,
                                          bool has_fields) const {
    std::size_t depth = 0;  // of an f-string's braces, whose contents may hold quotes
    for (std::size_t i = begin; i < file_.size(); ++i) {
      const char c = file_[i];
      if (c == '\\') {
        ++i;
        if (i < file_.size() && file_.substr(i, 2) == "\r\n") ++i;  // one end of a line
      } else if (depth == 0 && file_.substr(i, close.size()) == close) {
        return i;
      } else if (close.size() == 1 && c == '\n') {
        return std::string_view::npos;
      } else if (has_fields && c == '{') {
        if (depth == 0 && i + 1 < file_.size() && file_[i + 1] == '{') {
          ++i;
        } else {
          ++depth;
        }
      } else if (has_fields && c == '}' && depth > 0) {
        --depth;
      }
    }
    return std::string_view::npos;
  }

  // REQUIRES the prefix before and a quote behind it.
  void string(std::string_view prefix) {
    const std::size_t quote = at_ + prefix.size();
    const bool is_triple = file_.substr(quote, 3) == std::string(3, file_[quote]);
    const std::string close(is_triple ? 3 : 1, file_[quote]);
    const std::size_t begin = quote + close.size();
    const bool has_fields = has_letter(prefix, 'f') || has_letter(prefix, 't');
    std::size_t end = closing_quote(begin, close, has_fields);
    // Braces that do not pair up are none.
    if (end == std::string_view::npos && has_fields) end = closing_quote(begin, close, false);
    const bool is_closed = end != std::string_view::npos;
    if (!is_closed)
      end = is_triple ? file_.size() : std::min(file_.find('\n', begin), file_.size());
    add(PythonTokenKind::text, file_.substr(begin, end - begin), prefix);
    tokens_.back().is_closed = is_closed;
    line_ += static_cast<std::size_t>(std::count(file_.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 file_.begin() + static_cast<std::ptrdiff_t>(end),
                                                 '\n'));
    at_ = is_closed ? end + close.size() : end;
  }

  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_begin_ = 0;
  std::size_t depth_ = 0;
  bool is_line_start_ = true;
  std::size_t indent_ = 0;
  std::vector<PythonToken> tokens_{};
};

}  // namespace

std::vector<PythonToken> python_tokens(std::string_view file) { return Lexer(file).run(); }

}  // namespace assay::source
