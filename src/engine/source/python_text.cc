#include "engine/source/python_text.h"

#include <algorithm>
#include <set>

#include "engine/source/python_reader.h"

namespace assay::source {
namespace {

// The same text met twice: the occurrence that says more stays.
bool says_more(const PythonOccurrence& one, const PythonOccurrence& other) {
  const auto weight = [](const PythonOccurrence& occurrence) {
    return (occurrence.value.is_exact() ? 2 : 0) + (occurrence.keyword.empty() ? 0 : 1);
  };
  return weight(one) > weight(other);
}

bool is_flag_keyword(std::string_view keyword) {
  return keyword == "extra_cuda_cflags" || keyword == "cuda_cflags" || keyword == "options";
}

}  // namespace

bool PythonText::is_flag() const { return is_flag_keyword(keyword); }

bool PythonText::holds_kernels() const {
  return text.bytes.find("__global__") != std::string::npos;
}

PythonTexts read_python(std::string_view file) {
  PythonReader reader(file);
  const auto occurrences = reader.run();
  std::set<std::size_t> consumed;
  for (const auto& occurrence : occurrences) {
    const auto& parts = occurrence.value.made_of;
    consumed.insert(parts.begin(), parts.end());
  }
  std::vector<const PythonOccurrence*> kept;
  for (const auto& occurrence : occurrences) {
    if (consumed.contains(occurrence.assignment) || occurrence.is_overwritten) continue;
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const PythonOccurrence* other) {
      return other->value.text == occurrence.value.text &&
             is_flag_keyword(other->keyword) == is_flag_keyword(occurrence.keyword);
    });
    if (same == kept.end()) {
      kept.push_back(&occurrence);
    } else if (says_more(occurrence, **same)) {
      *same = &occurrence;
    }
  }
  PythonTexts out{.is_cut = reader.is_cut()};
  for (const PythonOccurrence* occurrence : kept) {
    out.texts.push_back({.text = occurrence->value.text,
                         .variable = occurrence->variable,
                         .keyword = occurrence->keyword,
                         .doubt = occurrence->value.doubt});
  }
  return out;
}

bool looks_like_python(std::string_view file) {
  std::size_t signs = 0;
  bool fresh = true;
  for (std::size_t i = 0; i < file.size();) {
    const auto end = std::min(file.find('\n', i), file.size());
    const std::string_view line = file.substr(i, end - i);
    const auto starts = [&](std::string_view word) { return line.substr(0, word.size()) == word; };
    if (fresh && (starts("#include") || starts("#pragma") || starts("#define") || starts("//") ||
                  starts("__global__") || starts("template"))) {
      return false;
    }
    const bool sign =
        (starts("import ") && line.find(';') == std::string_view::npos) ||
        (starts("from ") && line.find(" import ") != std::string_view::npos) ||
        ((starts("def ") || starts("class ")) && line.find(':') != std::string_view::npos &&
         line.find(';') == std::string_view::npos && line.find('{') == std::string_view::npos);
    if (sign) ++signs;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos && !starts("#")) fresh = false;
    i = end + 1;
  }
  if (signs > 0) return true;
  // No import: `name = """ … """`, or one handed to a call.
  const auto [texts, is_cut] = read_python(file);
  return is_cut || std::any_of(texts.begin(), texts.end(), [](const PythonText& text) {
           return !(text.variable.empty() && text.keyword.empty()) && text.holds_kernels();
         });
}

}  // namespace assay::source
