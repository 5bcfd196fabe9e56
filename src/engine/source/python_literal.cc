#include "engine/source/python_literal.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace assay::source {
namespace {

constexpr std::uint32_t kHighestCharacter = 0x10FFFF;

std::string utf8(std::uint32_t code) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0U | code >> 6U), byte(0x80U | (code & 0x3FU))};
  if (code < 0x10000) {
    return {byte(0xE0U | code >> 12U), byte(0x80U | (code >> 6U & 0x3FU)),
            byte(0x80U | (code & 0x3FU))};
  }
  return {byte(0xF0U | code >> 18U), byte(0x80U | (code >> 12U & 0x3FU)),
          byte(0x80U | (code >> 6U & 0x3FU)), byte(0x80U | (code & 0x3FU))};
}

bool has(std::string_view prefix, char lower) {
  return std::any_of(prefix.begin(), prefix.end(),
                     [&](char c) { return static_cast<char>(c | 0x20) == lower; });
}

class Decoder {
 public:
  explicit Decoder(const PythonToken& token)
      : text_(token.text),
        line_(token.line),
        is_raw_(has(token.prefix, 'r')),
        is_bytes_(has(token.prefix, 'b')),
        has_fields_(has(token.prefix, 'f') || has(token.prefix, 't')) {
    out_.parts.push_back({.line = line_});
    if (!token.is_closed) doubt("a string has no closing quote");
    if (has(token.prefix, 't')) doubt("a t-string is no string");
  }

  Literal run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void doubt(std::string why) {
    if (out_.doubt.empty()) out_.doubt = std::move(why);
  }

  void put(std::string_view bytes) { out_.parts.back().text.append(bytes, line_); }

  void step() {
    const char c = text_[at_];
    if (c == '\r') {  // a line ends as Python reads it, whatever the system
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != '\n') put("\n");
      ++at_;
    } else if (c == '\n') {
      put("\n");
      ++line_;
      ++at_;
    } else if (c == '\\') {
      is_raw_ ? raw_escape() : escape();
    } else if (has_fields_ && (c == '{' || c == '}')) {
      brace();
    } else {
      if (c == '\0') doubt("a string holds a NUL character");
      put(text_.substr(at_, 1));
      ++at_;
    }
  }

  // It stays, and so does a quote behind it.
  void raw_escape() {
    put("\\");
    ++at_;
    if (at_ >= text_.size() || text_[at_] == '\n' || text_[at_] == '\r') return;
    if (has_fields_ && (text_[at_] == '{' || text_[at_] == '}')) return;
    put(text_.substr(at_, 1));
    ++at_;
  }

  void escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    static constexpr std::string_view kNames = "\\'\"abfnrtv";
    static constexpr std::string_view kBytes = "\\'\"\a\b\f\n\r\t\v";
    if (c == '\n' || c == '\r') {  // the line goes on
      const bool is_pair = c == '\r' && at_ + 2 < text_.size() && text_[at_ + 2] == '\n';
      at_ += is_pair ? 3 : 2;
      if (c == '\n' || is_pair) ++line_;  // lines of a file are counted by their \n
    } else if (const auto known = kNames.find(c); known != std::string_view::npos) {
      put(kBytes.substr(known, 1));
      at_ += 2;
    } else if (c >= '0' && c <= '7') {
      octal();
    } else if (c == 'x') {
      hexadecimal(2);
    } else if (!is_bytes_ && (c == 'u' || c == 'U')) {
      hexadecimal(c == 'u' ? 4 : 8);
    } else if (!is_bytes_ && c == 'N') {
      doubt("a character is given by its name, \\N{…}");
      put(text_.substr(at_, 2));
      at_ += 2;
    } else {  // Python leaves the backslash
      put("\\");
      ++at_;
    }
  }

  void character(std::uint32_t code) {
    if (code == 0) doubt("a string holds a NUL character");
    const bool is_surrogate = code >= 0xD800 && code < 0xE000;
    if (code > kHighestCharacter || is_surrogate || (is_bytes_ && code >= 0x80)) {
      return doubt("an escape names no character");
    }
    put(utf8(code));
  }

  void octal() {
    std::uint32_t code = 0;
    std::size_t end = at_ + 1;
    for (; end < text_.size() && end < at_ + 4 && text_[end] >= '0' && text_[end] <= '7'; ++end) {
      code = code * 8 + static_cast<std::uint32_t>(text_[end] - '0');
    }
    at_ = end;
    character(is_bytes_ ? code & 0xFFU : code);
  }

  void hexadecimal(std::size_t digits) {
    const std::string_view given = text_.substr(std::min(at_ + 2, text_.size()), digits);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), code, 16);
    if (error != std::errc{} || given.size() != digits || end != given.data() + digits) {
      doubt("an escape has too few digits");
      put("\\");
      ++at_;
      return;
    }
    at_ += 2 + digits;
    character(code);
  }

  void brace() {
    const char c = text_[at_];
    if (at_ + 1 < text_.size() && text_[at_ + 1] == c) {
      put({&c, 1});
      at_ += 2;
    } else if (c == '}') {
      doubt("an f-string has a '}' of its own");
      put("}");
      ++at_;
    } else {
      field();
    }
  }

  // Where a field's expression ends: at its '}', '!', ':' or '='; npos if nothing ends it.
  [[nodiscard]] std::size_t expression_end() const {
    std::size_t depth = 0;
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      const char next = i + 1 < text_.size() ? text_[i + 1] : '\0';
      if (c == '\'' || c == '"') {
        const auto close = text_.find(c, i + 1);
        if (close == std::string_view::npos) return close;
        i = close;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth;
      } else if (depth == 0 && (c == '}' || c == ':' || (c == '!' && next != '='))) {
        return i;
      } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
        --depth;
      }
    }
    return std::string_view::npos;
  }

  void field() {
    const std::size_t end = expression_end();
    std::size_t close = end;
    for (std::size_t depth = 0; close < text_.size(); ++close) {
      if (text_[close] == '{') ++depth;
      if (text_[close] == '}' && depth-- == 0) break;
    }
    if (end == std::string_view::npos || close >= text_.size()) {
      doubt("an f-string's field has no '}'");
      put("{");
      ++at_;
      return;
    }
    LiteralPart part{.is_field = true,
                     .expression = text_.substr(at_ + 1, end - at_ - 1),
                     .format = text_.substr(end, close - end),
                     .line = line_};
    const std::string_view whole = text_.substr(at_, close + 1 - at_);
    part.text.append(whole, line_);
    line_ += static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n'));
    out_.parts.push_back(std::move(part));
    out_.parts.push_back({.line = line_});
    at_ = close + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_;
  bool is_raw_;
  bool is_bytes_;
  bool has_fields_;
  Literal out_{};
};

}  // namespace

Literal read_literal(const PythonToken& token) { return Decoder(token).run(); }

}  // namespace assay::source
