#include "mcp/utf8.h"

#include <cstdint>

namespace assay::mcp {
namespace {

struct Lead {
  std::size_t following = 0;
  char32_t bits = kBadByte;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {0, byte};
  if (byte >= 0xC2 && byte < 0xE0) return {1, byte & 0x1Fu};
  if (byte >= 0xE0 && byte < 0xF0) return {2, byte & 0x0Fu};
  if (byte >= 0xF0 && byte < 0xF5) return {3, byte & 0x07u};
  return {};
}

}  // namespace

char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto [following, bits] = lead_of(static_cast<unsigned char>(text[position++]));
  if (bits == kBadByte || position + following > text.size()) return kBadByte;
  char32_t code_point = bits;
  for (std::size_t i = 0; i < following; ++i) {
    const auto byte = static_cast<unsigned char>(text[position + i]);
    if ((byte & 0xC0u) != 0x80u) return kBadByte;
    code_point = (code_point << 6) | (byte & 0x3Fu);
  }
  position += following;
  return code_point;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t position = 0; position < text.size(); ++count)
    static_cast<void>(next_code_point(text, position));
  return count;
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = 0;
  for (std::size_t position = 0; position < text.size();) {
    static_cast<void>(next_code_point(text, position));
    if (position > max_bytes) break;
    end = position;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace assay::mcp
