// The protocol revisions this server speaks, and the two eras they fall into: legacy revisions are
// negotiated by `initialize` for a session, the modern one is named by every request. Plain values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp {

// In order of publication, so that `revision < Revision::v2025_06_18` reads as it is meant.
enum class Revision { v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };

enum class Era { legacy, modern };

inline constexpr Revision newest_legacy_revision = Revision::v2025_11_25;

[[nodiscard]] std::string_view text(Revision revision);
[[nodiscard]] std::optional<Revision> revision_from(std::string_view text);
[[nodiscard]] Era era_of(Revision revision);
// The revisions a modern request may name, oldest first.
[[nodiscard]] std::vector<std::string> modern_revisions();

}  // namespace assay::mcp
