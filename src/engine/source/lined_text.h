// Text that was put together from pieces of a file, of which every byte still knows the line it
// came from: what Python makes of its strings, so that the compiler's messages lead back to the
// file.
//
// Values. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

struct LinedText {
  std::string bytes{};
  std::vector<std::uint32_t> lines{};  // of each byte

  void append(std::string_view text, std::size_t line);
  void append(const LinedText& other);
  [[nodiscard]] LinedText part(std::size_t begin, std::size_t end) const;

  // str.replace; REQUIRES `from` not empty. What is put in comes from where it stands in the file.
  [[nodiscard]] LinedText replaced(std::string_view from, const LinedText& to,
                                   std::size_t most) const;
  // str.strip and its halves; `set` of ASCII characters.
  [[nodiscard]] LinedText stripped(std::string_view set, bool left, bool right) const;
  // textwrap.dedent.
  [[nodiscard]] LinedText dedented() const;

  bool operator==(const LinedText&) const = default;
};

}  // namespace assay::source
