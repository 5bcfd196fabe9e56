#include "engine/node/division_places.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace assay::node {
namespace {

constexpr std::size_t kMostLinesBefore = 12;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Where a line divides: "/" and "%" that begin and end no comment; npos if it does not.
std::size_t division_in(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char next = i + 1 < line.size() ? line[i + 1] : ' ';
    if (line[i] == '%') return i;
    if (line[i] != '/' || (i > 0 && line[i - 1] == '*')) continue;
    if (next == '/') break;
    if (next != '*') return i;
    i = std::min(line.find("*/", i + 2), line.size());
  }
  return std::string_view::npos;
}

}  // namespace

void place_divisions(nlohmann::json& findings, std::string_view source, std::string_view file) {
  // Lines with numbers of their own are not counted here.
  if (source.find("#line") != std::string_view::npos) return;
  const auto lines = lines_of(source);
  for (auto& finding : findings) {
    if (finding.at("kind") != "division_by_zero") continue;
    auto& where = finding.at("where");
    const auto line = where.value("line", std::size_t{0});
    if (line == 0 || line > lines.size() || where.value("file", std::string()) != file) {
      continue;
    }
    const std::size_t first = line > kMostLinesBefore ? line - kMostLinesBefore : 1;
    for (std::size_t at = line; at >= first; --at) {
      const std::size_t column = division_in(lines[at - 1]);
      if (column == std::string_view::npos) continue;
      if (at != line) where.update({{"line", at}, {"column", column + 1}});
      break;
    }
  }
}

}  // namespace assay::node
