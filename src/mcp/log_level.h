// The severities of the protocol's log messages, in order. Plain values.
#pragma once

#include <optional>
#include <string_view>

namespace assay::mcp {

enum class LogLevel { debug, info, notice, warning, error, critical, alert, emergency };

[[nodiscard]] std::string_view text(LogLevel level);
[[nodiscard]] std::optional<LogLevel> log_level_from(std::string_view text);

}  // namespace assay::mcp
