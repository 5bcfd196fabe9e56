#include "mcp/revision.h"

#include <array>
#include <utility>

namespace assay::mcp {
namespace {

constexpr std::array<std::pair<Revision, std::string_view>, 5> kRevisions{{
    {Revision::v2024_11_05, "2024-11-05"},
    {Revision::v2025_03_26, "2025-03-26"},
    {Revision::v2025_06_18, "2025-06-18"},
    {Revision::v2025_11_25, "2025-11-25"},
    {Revision::v2026_07_28, "2026-07-28"},
}};

}  // namespace

std::string_view text(Revision revision) {
  for (const auto& [value, name] : kRevisions)
    if (value == revision) return name;
  return "unknown";
}

std::optional<Revision> revision_from(std::string_view text) {
  for (const auto& [value, name] : kRevisions)
    if (name == text) return value;
  return std::nullopt;
}

Era era_of(Revision revision) {
  return revision > newest_legacy_revision ? Era::modern : Era::legacy;
}

std::vector<std::string> modern_revisions() {
  std::vector<std::string> names;
  for (const auto& [value, name] : kRevisions)
    if (era_of(value) == Era::modern) names.emplace_back(name);
  return names;
}

}  // namespace assay::mcp
