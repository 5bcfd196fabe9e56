#include "mcp/told_violations.h"

#include <algorithm>

#include "mcp/codec.h"
#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kLines = 5;
constexpr std::size_t kLineBytes = 600;
constexpr std::size_t kListBytes = 4'000;
// Longer than any that a real call gives rise to: one violation alone must not fill an answer.
constexpr std::size_t kPointerBytes = 800;

OrderedJson entry_of(const Violation& violation) {
  OrderedJson entry = {{"pointer", shortened(violation.pointer, kPointerBytes)}};
  if (!violation.keyword.empty()) entry["keyword"] = violation.keyword;
  entry["message"] = shortened(violation.message, kLineBytes);
  if (!violation.suggestion.empty()) entry["suggestion"] = violation.suggestion;
  return entry;
}

// The schema check stops counting there.
std::string count(std::size_t more, std::size_t total) {
  return std::to_string(more) + (total == kMaxViolations ? " or more others" : " others");
}

}  // namespace

ToldViolations told_violations(const std::vector<Violation>& violations) {
  ToldViolations told;
  OrderedJson list = OrderedJson::array();
  std::size_t bytes = 0;
  for (const Violation& violation : violations) {
    OrderedJson entry = entry_of(violation);
    bytes += encode(entry).size();
    if (!list.empty() && bytes > kListBytes) break;
    list.push_back(std::move(entry));
  }
  const std::size_t lines = std::min(violations.size(), kLines);
  for (std::size_t i = 0; i < lines; ++i)
    told.text += (i > 0 ? "\n" : "") + shortened(describe({violations[i]}), kLineBytes);
  if (violations.size() > lines)
    told.text += "\nand " + count(violations.size() - lines, violations.size());
  const bool is_cut = list.size() < violations.size();
  told.error["violations"] = std::move(list);
  if (is_cut) told.error["violations_total"] = violations.size();
  return told;
}

}  // namespace assay::mcp
