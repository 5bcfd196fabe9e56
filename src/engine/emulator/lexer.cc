#include "engine/emulator/lexer.h"

namespace assay::emulator {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool in_word(char c) { return starts_word(c) || is_digit(c) || c == '.'; }

}  // namespace

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0') {
      ++at_;
    } else if (c == '/' && at(at_ + 1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '/' && at(at_ + 1) == '*') {
      at_ += 2;
      while (at_ < text_.size() && !(text_[at_] == '*' && at(at_ + 1) == '/')) {
        if (text_[at_] == '\n') ++line_;
        ++at_;
      }
      at_ = at_ + 2 < text_.size() ? at_ + 2 : text_.size();
    } else {
      return;
    }
  }
}

// `::` belongs to a word (`shared::cta`, `L2::256B`), a single `:` ends a label. A directive ends
// at the next dot: `.reg.b32` is two.
void Lexer::lex_word(bool dotted) {
  const std::size_t begin = at_++;
  while (at_ < text_.size()) {
    if (in_word(text_[at_]) && (dotted || text_[at_] != '.')) {
      ++at_;
    } else if (text_[at_] == ':' && at(at_ + 1) == ':' &&
               (is_letter(at(at_ + 2)) || is_digit(at(at_ + 2)))) {
      at_ += 3;
    } else {
      break;
    }
  }
  token_.text = text_.substr(begin, at_ - begin);
}

void Lexer::lex_number() {
  const std::size_t begin = at_;
  const bool coded = text_[begin] == '0' && is_letter(at(begin + 1)) && at(begin + 1) != 'e';
  while (at_ < text_.size()) {
    const char c = text_[at_];
    const bool exponent_sign = !coded && (c == '+' || c == '-') && at_ > begin &&
                               (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
    if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent_sign) break;
    ++at_;
  }
  token_.text = text_.substr(begin, at_ - begin);
}

void Lexer::lex_string() {
  const std::size_t begin = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
  }
  token_.text = text_.substr(begin, at_ - begin);
  if (at(at_) == '"') {
    ++at_;
  } else {
    token_.kind = TokenKind::invalid;
  }
}

void Lexer::advance() {
  skip_space();
  token_ = Token{.kind = TokenKind::end, .text = {}, .line = line_, .offset = at_};
  if (at_ >= text_.size()) return;
  const char c = text_[at_];
  if (starts_word(c)) {
    token_.kind = TokenKind::word;
    lex_word(true);
  } else if (c == '.' && starts_word(at(at_ + 1))) {
    token_.kind = TokenKind::directive;
    lex_word(false);
  } else if (is_digit(c)) {
    token_.kind = TokenKind::number;
    lex_number();
  } else if (c == '"') {
    token_.kind = TokenKind::string;
    lex_string();
  } else {
    constexpr std::string_view kPunctuation = ",;:{}()[]<>+-!@|=*&~/^?";
    token_.kind = kPunctuation.find(c) == std::string_view::npos ? TokenKind::invalid
                                                                 : TokenKind::punctuation;
    token_.text = text_.substr(at_, 1);
    ++at_;
  }
}

}  // namespace assay::emulator
