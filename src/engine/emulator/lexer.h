// PTX text into tokens, one at a time. Holds no memory of its own: tokens are views into the text,
// which must outlive them. Any bytes are accepted; what is no token becomes TokenKind::invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::emulator {

enum class TokenKind : std::uint8_t {
  end,
  word,       // mov.u32, %r1, $L__BB0_1, foo
  directive,  // .reg, .b32
  number,     // 12, 0x1F, 0f3F800000, 1.5e3, 3U
  string,     // without its quotes
  punctuation,
  invalid,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text{};
  int line = 0;
  std::size_t offset = 0;  // in the whole text

  [[nodiscard]] bool is(char punctuation) const {
    return kind == TokenKind::punctuation && text.front() == punctuation;
  }
  [[nodiscard]] bool is_directive(std::string_view name) const {
    return kind == TokenKind::directive && text == name;
  }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text, std::size_t offset = 0, int line = 1)
      : text_(text), at_(offset), line_(line) {
    advance();
  }

  [[nodiscard]] const Token& peek() const { return token_; }
  Token next() {
    const Token t = token_;
    advance();
    return t;
  }
  bool take(char punctuation) {
    if (!token_.is(punctuation)) return false;
    advance();
    return true;
  }
  // Goes to a token seen before.
  void rewind(const Token& to) {
    at_ = to.offset;
    line_ = to.line;
    advance();
  }
  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  void advance();
  void skip_space();
  void lex_word(bool dotted);
  void lex_number();
  void lex_string();
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  std::string_view text_;
  std::size_t at_;
  int line_;
  Token token_{};
};

}  // namespace assay::emulator
