// A section of DWARF as a compiler writes it into its PTX: lines of numbers and labels, here as
// bytes, with the labels beside them. Views into the text. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::emulator {

struct DebugLabel {
  std::string_view text{};
  std::uint64_t addend = 0;
};

struct DebugSection {
  std::vector<std::uint8_t> bytes{};
  std::map<std::size_t, DebugLabel> labels{};  // by the offset of the address they stand for
};

// Empty if there is none, or up to where it is not understood.
[[nodiscard]] DebugSection debug_section(std::string_view ptx, std::string_view name);

// Reads a section from some offset on. Beyond its end all is zero, and `ended` is set.
class DebugCursor {
 public:
  DebugCursor(const DebugSection& section, std::size_t at, std::size_t end)
      : section_(section), at_(at), end_(end < section.bytes.size() ? end : section.bytes.size()) {}
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool ended() const { return at_ >= end_; }
  // Little-endian, of up to eight bytes.
  std::uint64_t number(unsigned bytes);
  std::uint64_t uleb();
  std::string text();
  void skip(std::uint64_t bytes);
  // The label that stands where the next number does, if one does.
  [[nodiscard]] const DebugLabel* label() const;

 private:
  const DebugSection& section_;
  std::size_t at_;
  std::size_t end_;
};

}  // namespace assay::emulator
