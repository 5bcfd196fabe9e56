#include "tools/set_aside.h"

#include <algorithm>

namespace assay::tools {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string set_aside(const source::DeviceCode& code) {
  constexpr std::size_t kListed = 8;
  if (!code.is_changed || code.dropped.empty()) return {};
  std::vector<std::string> list;
  for (std::size_t i = 0; i < std::min(kListed, code.dropped.size()); ++i) {
    list.push_back(code.dropped[i].what + " (line " + std::to_string(code.dropped[i].line) + ")");
  }
  if (code.dropped.size() > kListed) {
    list.push_back("and " + std::to_string(code.dropped.size() - kListed) + " more");
  }
  return "host code was set aside, line numbers are kept; dropped: " + listed(list);
}

}  // namespace assay::tools
