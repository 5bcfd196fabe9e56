#include "engine/emulator/debug_section.h"

#include <algorithm>
#include <charconv>

#include "engine/emulator/lexer.h"

namespace assay::emulator {
namespace {

constexpr std::size_t kMostBytes = 64U << 20;

unsigned width_of(std::string_view directive) {
  if (directive == ".b8") return 1;
  if (directive == ".b16") return 2;
  if (directive == ".b32") return 4;
  return directive == ".b64" ? 8 : 0;
}

std::uint64_t value_of(std::string_view digits) {
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  std::uint64_t v = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), v, is_hex ? 16 : 10);
  return v;
}

void append(DebugSection& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) {
    out.bytes.push_back(static_cast<std::uint8_t>(i < 8 ? value >> 8 * i : 0));
  }
}

// One number, or a label with what is added to it. False: neither.
bool read_value(Lexer& lexer, unsigned bytes, DebugSection& out) {
  const bool is_negative = lexer.take('-');
  const Token t = lexer.next();
  if (t.kind == TokenKind::number) {
    const std::uint64_t v = value_of(t.text);
    append(out, is_negative ? 0 - v : v, bytes);
    return true;
  }
  if (t.kind != TokenKind::word && t.kind != TokenKind::directive) return false;
  DebugLabel label{.text = t.text};
  if (lexer.take('+') && lexer.peek().kind == TokenKind::number) {
    label.addend = value_of(lexer.next().text);
  }
  out.labels[out.bytes.size()] = label;
  append(out, 0, bytes);
  return true;
}

}  // namespace

DebugSection debug_section(std::string_view ptx, std::string_view name) {
  DebugSection out;
  constexpr std::string_view kDirective = ".section";
  for (std::size_t at = ptx.find(kDirective); at != std::string_view::npos;
       at = ptx.find(kDirective, at + 1)) {
    Lexer lexer(ptx, at);
    lexer.next();
    if (lexer.next().text != name || !lexer.take('{')) continue;
    while (lexer.peek().kind == TokenKind::directive && out.bytes.size() < kMostBytes) {
      const unsigned bytes = width_of(lexer.next().text);
      do {
        if (bytes == 0 || !read_value(lexer, bytes, out)) return out;
      } while (lexer.take(','));
    }
    break;
  }
  return out;
}

std::uint64_t DebugCursor::number(unsigned bytes) {
  std::uint64_t v = 0;
  for (unsigned i = 0; i < bytes && at_ < end_; ++i, ++at_) {
    v |= std::uint64_t{section_.bytes[at_]} << 8 * i;
  }
  return v;
}

std::uint64_t DebugCursor::uleb() {
  std::uint64_t v = 0;
  for (unsigned shift = 0; at_ < end_; shift += 7) {
    const std::uint8_t byte = section_.bytes[at_++];
    if (shift < 64) v |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) break;
  }
  return v;
}

std::string DebugCursor::text() {
  std::string s;
  for (char c = 0; (c = static_cast<char>(number(1))) != 0;) s += c;
  return s;
}

void DebugCursor::skip(std::uint64_t bytes) {
  at_ += static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end_ - std::min(at_, end_)));
}

const DebugLabel* DebugCursor::label() const {
  const auto found = section_.labels.find(at_);
  return found == section_.labels.end() ? nullptr : &found->second;
}

}  // namespace assay::emulator
