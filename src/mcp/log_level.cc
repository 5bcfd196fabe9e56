#include "mcp/log_level.h"

#include <array>
#include <cstddef>

namespace assay::mcp {
namespace {

constexpr std::array<std::string_view, 8> kNames{"debug", "info",     "notice", "warning",
                                                 "error", "critical", "alert",  "emergency"};

}  // namespace

std::string_view text(LogLevel level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> log_level_from(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<LogLevel>(i);
  return std::nullopt;
}

}  // namespace assay::mcp
