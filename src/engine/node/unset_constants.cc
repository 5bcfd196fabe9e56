#include "engine/node/unset_constants.h"

#include <algorithm>

namespace assay::node {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

bool names(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool begins = at == 0 || !is_of_name(text[at - 1]);
    if (begins && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

// ".const .align 4 .b8 K[16];"
std::string_view declared(std::string_view line) {
  const auto end = line.find_first_of("[;");
  if (end == line.npos || line.find('=') != line.npos) return {};
  auto begin = end;
  while (begin > 0 && is_of_name(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

}  // namespace

std::vector<std::string> unset_constants(std::string_view ptx) {
  constexpr std::string_view kDeclaration = ".const ";
  std::vector<std::string> found;
  for (std::size_t at = 0; at < ptx.size();) {
    const auto end = std::min(ptx.find('\n', at), ptx.size());
    std::string_view line = ptx.substr(at, end - at);
    at = end + 1;
    for (const std::string_view linkage : {".visible ", ".weak "}) {
      if (line.starts_with(linkage)) line.remove_prefix(linkage.size());
    }
    if (!line.starts_with(kDeclaration)) continue;
    const std::string_view name = declared(line);
    if (!name.empty() && names(ptx.substr(std::min(at, ptx.size())), name))
      found.emplace_back(name);
  }
  return found;
}

}  // namespace assay::node
