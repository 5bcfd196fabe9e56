#include "engine/node/leading_headers.h"

#include <algorithm>

namespace assay::node {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxHeaders = 32;

// What is left of `text` behind blanks and comments.
std::string_view behind_blanks(std::string_view text) {
  for (;;) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    text.remove_prefix(first);
    std::size_t end = 0;
    if (text.starts_with("//")) {
      end = text.find('\n');
    } else if (text.starts_with("/*")) {
      end = text.find("*/", 2);
      if (end != std::string_view::npos) end += 2;
    } else {
      return text;
    }
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end);
  }
}

bool is_plain_name(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/' || c == '.' || c == '-';
  });
  return plain && !name.empty() && name.size() < 200 && name.front() != '/' &&
         name.find("..") == std::string_view::npos;
}

bool is_of(const std::vector<fs::path>& folders, std::string_view name) {
  return std::any_of(folders.begin(), folders.end(), [&](const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / name, ignored);
  });
}

}  // namespace

std::vector<std::string> leading_headers(std::string_view source,
                                         const std::vector<fs::path>& include_folders) {
  std::vector<std::string> headers;
  while (headers.size() < kMaxHeaders) {
    source = behind_blanks(source);
    if (!source.starts_with('#')) break;
    source.remove_prefix(1);
    source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
    constexpr std::string_view kInclude = "include";
    if (!source.starts_with(kInclude)) break;
    source.remove_prefix(kInclude.size());
    source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
    const auto close = source.find('>');
    if (!source.starts_with('<') || close == std::string_view::npos) break;
    const auto name = source.substr(1, close - 1);
    if (!is_plain_name(name) || !is_of(include_folders, name)) break;
    headers.emplace_back(name);
    source.remove_prefix(close + 1);
  }
  return headers;
}

}  // namespace assay::node
