// Code points of a UTF-8 text, one at a time. A bad byte is one code point: kBadByte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::mcp {

inline constexpr char32_t kBadByte = 0xFFFFFFFF;

// The code point at `position`, which is advanced past it. REQUIRES: position < text.size().
[[nodiscard]] char32_t next_code_point(std::string_view text, std::size_t& position);

[[nodiscard]] std::size_t count_code_points(std::string_view text);

// At most `max_bytes` of the text, cut between code points; "…" marks a cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t max_bytes);

}  // namespace assay::mcp
