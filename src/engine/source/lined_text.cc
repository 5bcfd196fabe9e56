#include "engine/source/lined_text.h"

#include <algorithm>
#include <optional>

namespace assay::source {
namespace {

constexpr std::string_view kBlanks = " \t";

// Calls take(begin, end) for each line; the '\n' is not part of it.
template <typename Take>
void each_line(std::string_view text, const Take& take) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    take(begin, end);
    begin = end + 1;
  }
}

}  // namespace

void LinedText::append(std::string_view text, std::size_t line) {
  bytes += text;
  lines.insert(lines.end(), text.size(), static_cast<std::uint32_t>(line));
}

void LinedText::append(const LinedText& other) {
  bytes += other.bytes;
  lines.insert(lines.end(), other.lines.begin(), other.lines.end());
}

LinedText LinedText::part(std::size_t begin, std::size_t end) const {
  const auto from = static_cast<std::ptrdiff_t>(begin);
  const auto to = static_cast<std::ptrdiff_t>(end);
  return {.bytes = bytes.substr(begin, end - begin),
          .lines = {lines.begin() + from, lines.begin() + to}};
}

LinedText LinedText::replaced(std::string_view from, const LinedText& to, std::size_t most) const {
  LinedText out;
  std::size_t at = 0;
  for (; most > 0; --most) {
    const auto found = bytes.find(from, at);
    if (found == std::string::npos) break;
    out.append(part(at, found));
    // One line of it stands where it is put; more keep their own.
    if (to.bytes.find('\n') == std::string::npos) {
      out.append(to.bytes, lines[found]);
    } else {
      out.append(to);
    }
    at = found + from.size();
  }
  out.append(part(at, bytes.size()));
  return out;
}

LinedText LinedText::stripped(std::string_view set, bool left, bool right) const {
  std::size_t begin = left ? std::min(bytes.find_first_not_of(set), bytes.size()) : 0;
  std::size_t end = bytes.size();
  while (right && end > begin && set.find(bytes[end - 1]) != std::string_view::npos) --end;
  return part(begin, end);
}

LinedText LinedText::dedented() const {
  std::optional<std::string_view> margin;
  const std::string_view text = bytes;
  each_line(text, [&](std::size_t begin, std::size_t end) {
    const std::string_view line = text.substr(begin, end - begin);
    const auto first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return;
    const std::string_view indent = line.substr(0, first);
    if (!margin) margin = indent;
    const auto differ = std::mismatch(margin->begin(), margin->end(), indent.begin(), indent.end());
    margin = margin->substr(0, static_cast<std::size_t>(differ.first - margin->begin()));
  });
  LinedText out;
  each_line(text, [&](std::size_t begin, std::size_t end) {
    if (begin > 0) out.append("\n", lines[begin - 1]);
    const bool is_blank =
        text.substr(begin, end - begin).find_first_not_of(kBlanks) == std::string_view::npos;
    if (!is_blank) out.append(part(begin + margin.value_or("").size(), end));
  });
  return out;
}

}  // namespace assay::source
