#include "engine/source/cuda_text.h"

#include <algorithm>
#include <sstream>

#include "engine/source/blank.h"
#include "engine/source/python_text.h"

namespace assay::source {
namespace {

constexpr std::size_t kMaxDoubts = 8;
constexpr std::size_t kMaxFlags = 64;

// "```cuda" around a source that was cut out of a chat.
void blank_fences(std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text.compare(first, 3, "```") != 0) return;
  for (std::size_t at = first; at != std::string::npos; at = text.find("\n```", at)) {
    if (text[at] == '\n') ++at;
    blank(text, at, std::min(text.find('\n', at), text.size()));
  }
}

bool is_cuda_source(const PythonText& text) {
  const bool is_named = text.keyword == "cuda_sources" || text.keyword == "cuda_source" ||
                        text.variable == "cuda_sources" || text.variable == "cuda_source";
  return text.holds_kernels() || (is_named && text.text.bytes.find('{') != std::string::npos);
}

std::string doubt_of(const PythonText& text, const std::string& then) {
  return "line " + std::to_string(text.doubt.line) + ": " + text.doubt.why + ": " + then;
}

// "-DN=4" of "-D N=4", of {"-D", "N=4"}, and of more of them in one text.
void add_flags(const PythonText& text, CudaText& out) {
  if (!text.doubt.why.empty()) {
    if (out.doubts.size() < kMaxDoubts)
      out.doubts.push_back(doubt_of(text, "a compile flag is taken without it"));
    return;
  }
  std::istringstream words(text.text.bytes);
  for (std::string word; words >> word;) {
    const bool is_rest =
        !out.flags.empty() && (out.flags.back() == "-D" || out.flags.back() == "-U");
    if (is_rest) {
      out.flags.back() += word;
    } else if (out.flags.size() < kMaxFlags) {
      out.flags.push_back(word);
    }
  }
}

CudaText plain(std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  CudaText out{.text = std::string(file)};
  // Windows puts it in front; to a compiler it is no space.
  if (file.starts_with(kByteOrderMark)) blank(out.text, 0, kByteOrderMark.size());
  blank_fences(out.text);
  const auto count = static_cast<std::size_t>(std::count(file.begin(), file.end(), '\n')) + 1;
  for (std::size_t line = 1; line <= count; ++line) out.lines.push_back(line);
  return out;
}

}  // namespace

CudaText cuda_text(std::string_view file) {
  // Python without any CUDA in it is left to the compiler, whose messages then have a place.
  if (!looks_like_python(file)) return plain(file);
  const auto [texts, is_cut] = read_python(file);
  if (std::none_of(texts.begin(), texts.end(), is_cuda_source)) {
    CudaText out = plain(file);
    if (is_cut) {
      out.doubts.emplace_back(
          "as Python this file puts more text together than is followed here: it is taken as it "
          "is");
    }
    return out;
  }
  CudaText out{.is_python = true};
  for (const PythonText& text : texts) {
    if (text.is_flag()) add_flags(text, out);
    if (!is_cuda_source(text)) continue;
    if (!out.text.empty()) out.text += '\n';
    out.text += text.text.bytes;
    std::size_t line = text.text.lines.empty() ? 1 : text.text.lines.front();
    out.lines.push_back(line);
    for (std::size_t i = 0; i < text.text.bytes.size(); ++i) {
      if (text.text.bytes[i] != '\n') continue;
      // A last line without contents follows the one before.
      line = i + 1 < text.text.bytes.size() ? text.text.lines[i + 1] : line + 1;
      out.lines.push_back(line);
    }
    if (!text.doubt.why.empty() && out.doubts.size() < kMaxDoubts) {
      out.doubts.push_back(doubt_of(text, "the CUDA source is taken without it"));
    }
  }
  return out;
}

std::string with_line_numbers(const std::string& text, const std::vector<std::size_t>& lines) {
  std::string out;
  std::size_t counted = 1;  // as the compiler would number the next line
  std::size_t at = 0;
  bool is_continued = false;
  for (std::size_t i = 0; i < lines.size() && at <= text.size(); ++i) {
    const auto end = std::min(text.find('\n', at), text.size());
    const std::size_t wanted = lines[i];
    // Nothing may stand between the lines of a macro.
    if (!is_continued && wanted > counted) {
      out.append(wanted - counted, '\n');
      counted = wanted;
    } else if (!is_continued && wanted < counted) {
      out += "#line " + std::to_string(wanted) + "\n";
      counted = wanted;
    }
    out += text.substr(at, end - at);
    is_continued = end > at && text[end - 1] == '\\';
    if (end < text.size()) out += '\n';
    at = end + 1;
    ++counted;
  }
  return out;
}

}  // namespace assay::source
