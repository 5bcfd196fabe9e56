// The process's log: standard error, never standard output, which is the protocol. spdlog's default
// logger is replaced first thing in main(), because it writes to stdout.
#pragma once

#include <string>

namespace assay::cli {

// Levels as spdlog names them: trace debug info warning error critical off. False: no such level.
[[nodiscard]] bool install_log(const std::string& level);

}  // namespace assay::cli
