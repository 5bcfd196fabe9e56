#include "cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace assay::cli {

bool install_log(const std::string& level) {
  const auto wanted = spdlog::level::from_str(level);
  // from_str answers "off" to anything it does not know.
  if (wanted == spdlog::level::off && level != "off") return false;
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("assay", std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
  logger->set_level(wanted);
  spdlog::set_default_logger(std::move(logger));
  return true;
}

}  // namespace assay::cli
