#include "engine/source/rewritten_text.h"

#include <algorithm>
#include <utility>

namespace assay::source {
namespace {

std::string only_lines(std::string_view text) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hides =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r');
    if (hides || text[i] == '\n' || text[i] == '\r') kept += text[i];
  }
  return kept;
}

}  // namespace

void RewrittenText::replace(std::size_t begin, std::size_t end, std::string text) {
  text += only_lines(original_.substr(begin, end - begin));
  edits_.push_back({begin, end, std::move(text)});
}

std::string RewrittenText::text() {
  std::stable_sort(edits_.begin(), edits_.end(),
                   [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  std::string text;
  std::size_t at = 0;
  for (const Edit& edit : edits_) {
    if (edit.begin < at) continue;
    text += original_.substr(at, edit.begin - at);
    text += edit.text;
    at = edit.end;
  }
  text += original_.substr(at);
  return text;
}

}  // namespace assay::source
