#include <array>

#include "engine/source/token.h"

namespace assay::source {
namespace {

constexpr std::array<std::string_view, 3> kThree{"<<=", ">>=", "..."};
constexpr std::array<std::string_view, 18> kTwo{
    "::", "->", "++", "--", "==", "!=", "<=", ">=", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&&", "||"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Tokens run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool starts(std::string_view text) const {
    return source_.substr(at_, text.size()) == text;
  }

  void advance_to(std::size_t end) {
    for (; at_ < end && at_ < source_.size(); ++at_) {
      if (source_[at_] == '\n') ++line_;
    }
  }

  void add(TokenKind kind, std::size_t end) {
    tokens_.push_back({kind, source_.substr(at_, end - at_), at_, line_});
    advance_to(end);
    fresh_line_ = false;
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      fresh_line_ = true;
      advance_to(at_ + 1);
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      advance_to(at_ + (peek(1) == '\n' ? 2 : 3));
    } else if (starts("//")) {
      advance_to(end_of_logical_line(at_));
    } else if (starts("/*")) {
      advance_to(end_of_comment(at_));
    } else if (c == '#' && fresh_line_) {
      add(TokenKind::directive, end_of_directive());
    } else {
      token(c);
    }
  }

  void token(char c) {
    if (const std::size_t quote = literal_prefix(); quote != std::string_view::npos) {
      literal(quote);
    } else if (is_word_start(c)) {
      std::size_t end = at_;
      while (end < source_.size() && is_word(source_[end])) ++end;
      add(TokenKind::identifier, end);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      add(TokenKind::number, end_of_number());
    } else {
      punctuation();
    }
  }

  void punctuation() {
    for (const auto text : kThree) {
      if (starts(text)) return add(TokenKind::punctuation, at_ + 3);
    }
    for (const auto text : kTwo) {
      if (starts(text)) return add(TokenKind::punctuation, at_ + 2);
    }
    add(TokenKind::punctuation, at_ + 1);
  }

  // Where the quote of a literal stands that begins here, its prefix (u8, L, R, …) passed.
  [[nodiscard]] std::size_t literal_prefix() const {
    std::size_t at = at_;
    while (at < source_.size() && at - at_ < 3 &&
           std::string_view("uULR8").find(source_[at]) != std::string_view::npos) {
      ++at;
    }
    const bool quoted = at < source_.size() && (source_[at] == '"' || source_[at] == '\'');
    if (!quoted || (at > at_ && source_[at_] == '8')) return std::string_view::npos;
    return at;
  }

  void literal(std::size_t quote) {
    const bool raw = source_[quote] == '"' && quote > at_ && source_[quote - 1] == 'R';
    const TokenKind kind = source_[quote] == '"' ? TokenKind::text : TokenKind::character;
    add(kind, raw ? end_of_raw(quote) : end_of_quoted(quote));
  }

  // Unterminated: to the end of the line, as compilers recover.
  [[nodiscard]] std::size_t end_of_quoted(std::size_t quote) const {
    for (std::size_t i = quote + 1; i < source_.size(); ++i) {
      if (source_[i] == source_[quote]) return i + 1;
      if (source_[i] == '\n') return i;
      if (source_[i] == '\\') ++i;
    }
    return source_.size();
  }

  [[nodiscard]] std::size_t end_of_raw(std::size_t quote) const {
    const auto open = source_.find('(', quote);
    if (open == std::string_view::npos || open - quote > 17) return end_of_quoted(quote);
    const std::string close = ")" + std::string(source_.substr(quote + 1, open - quote - 1)) + "\"";
    const auto end = source_.find(close, open);
    return end == std::string_view::npos ? source_.size() : end + close.size();
  }

  [[nodiscard]] std::size_t end_of_number() const {
    std::size_t end = at_;
    while (end < source_.size()) {
      const char c = source_[end];
      const bool signed_exponent =
          (c == '+' || c == '-') && end > at_ &&
          std::string_view("eEpP").find(source_[end - 1]) != std::string_view::npos &&
          // 0xE+1 is a sum
          !(source_[at_] == '0' && at_ + 1 < end && (source_[at_ + 1] | 0x20) == 'x' &&
            (source_[end - 1] | 0x20) == 'e');
      const bool separated = c == '\'' && end + 1 < source_.size() && is_word(source_[end + 1]);
      if (!is_word(c) && c != '.' && !signed_exponent && !separated) break;
      ++end;
    }
    return end;
  }

  [[nodiscard]] std::size_t end_of_comment(std::size_t at) const {
    const auto end = source_.find("*/", at + 2);
    return end == std::string_view::npos ? source_.size() : end + 2;
  }

  // The newline that no backslash precedes.
  [[nodiscard]] std::size_t end_of_logical_line(std::size_t at) const {
    for (; at < source_.size(); ++at) {
      if (source_[at] != '\n') continue;
      std::size_t last = at;
      if (last > 0 && source_[last - 1] == '\r') --last;
      if (last == 0 || source_[last - 1] != '\\') return at;
    }
    return source_.size();
  }

  [[nodiscard]] std::size_t end_of_directive() const {
    std::size_t at = at_;
    const std::size_t limit_step = source_.size();
    while (at < limit_step) {
      const char c = source_[at];
      const std::string_view pair = source_.substr(at, 2);
      if (pair == "//") return at;
      if (pair == "/*") {
        at = end_of_comment(at);
      } else if (c == '"' || c == '\'') {
        at = end_of_quoted(at);
      } else if (c == '\n') {
        const bool spliced = at > at_ && (source_[at - 1] == '\\' ||
                                          (source_[at - 1] == '\r' && source_[at - 2] == '\\'));
        if (!spliced) return at;
        ++at;
      } else {
        ++at;
      }
    }
    return source_.size();
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool fresh_line_ = true;
  Tokens tokens_{};
};

}  // namespace

bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_word(char c) { return is_word_start(c) || is_digit(c); }

Tokens lex(std::string_view source) { return Lexer(source).run(); }

}  // namespace assay::source
