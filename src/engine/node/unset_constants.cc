#include "engine/node/unset_constants.h"

#include <algorithm>
#include <unordered_map>

namespace assay::node {
namespace {

constexpr std::size_t kMostTold = 8;

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

// ".const .align 4 .b8 K[16];"
std::string_view declared(std::string_view line) {
  const auto end = line.find_first_of("[;");
  if (end == line.npos || line.find('=') != line.npos) return {};
  auto begin = end;
  while (begin > 0 && is_of_name(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

// Calls `take` with each name in a line.
template <class Take>
void each_name(std::string_view line, Take&& take) {
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_of_name(line[end])) ++end;
    if (end > at) take(line.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace

// One pass: a text may declare tens of thousands.
std::vector<std::string> unset_constants(std::string_view ptx) {
  std::vector<std::string_view> in_order;
  std::unordered_map<std::string_view, bool> is_read;
  for (std::size_t at = 0; at < ptx.size();) {
    const auto end = std::min(ptx.find('\n', at), ptx.size());
    std::string_view line = ptx.substr(at, end - at);
    at = end + 1;
    for (const std::string_view linkage : {".visible ", ".weak "}) {
      if (line.starts_with(linkage)) line.remove_prefix(linkage.size());
    }
    const auto name = line.starts_with(".const ") ? declared(line) : std::string_view();
    if (!name.empty() && is_read.try_emplace(name, false).second) {
      in_order.push_back(name);
    } else if (!is_read.empty()) {
      each_name(line, [&](std::string_view word) {
        if (const auto found = is_read.find(word); found != is_read.end()) found->second = true;
      });
    }
  }
  std::vector<std::string> found;
  for (const auto name : in_order) {
    if (is_read[name] && found.size() < kMostTold) found.emplace_back(name);
  }
  return found;
}

}  // namespace assay::node
