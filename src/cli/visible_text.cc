#include "cli/visible_text.h"

#include <algorithm>

#include "plans/step.h"

namespace assay::cli {
namespace {

constexpr std::string_view kIndent = "\n      ";

std::string escaped(unsigned code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  constexpr std::string_view kDigits = "0123456789abcdef";
  return {'\\', 'x', kDigits[(code >> 4U) & 15U], kDigits[code & 15U]};
}

}  // namespace

std::string visible(std::string_view text) {
  const std::string clean = plans::printable(text);
  std::string out;
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const auto code = static_cast<unsigned char>(clean[at]);
    const unsigned next = at + 1 < clean.size() ? static_cast<unsigned char>(clean[at + 1]) : 0U;
    if (code < 0x20 || code == 0x7f) {
      out += escaped(code);
    } else if (code == 0xc2 && next < 0xa0) {
      // U+0080 to U+009F: terminals take U+009B for the beginning of a sequence.
      out += escaped(next);
      ++at;
    } else {
      out += clean[at];
    }
  }
  return out;
}

std::string visible_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (!out.empty()) out += kIndent;
    out += visible(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace assay::cli
