#include "plans/scenarios/criteria.h"

#include <algorithm>

namespace assay::scenarios {

using nlohmann::json;

json criterion(const char* name, std::optional<bool> ok, const std::string& why) {
  return {{"criterion", name}, {"ok", ok ? json(*ok) : json(nullptr)}, {"why", why}};
}

std::size_t compile_count(const CompileEvidence& evidence) {
  const std::size_t commands = evidence.executed + evidence.in_image;
  if (evidence.is_traced && !evidence.log_decides && commands == 0) return 0;
  return std::max(commands, evidence.told_by_log);
}

json compile_criterion(const CompileEvidence& evidence) {
  const std::size_t count = compile_count(evidence);
  std::string why = std::to_string(evidence.executed) + " compile commands executed, " +
                    std::to_string(evidence.in_image) + " in the image's build, " +
                    std::to_string(evidence.told_by_log) + " finished by the log";
  if (evidence.log_decides && evidence.told_by_log == 0)
    return criterion("compiled_exactly_once", false, why + ": no line that the scenario counts");
  if (evidence.log_decides)
    why += "; the scenario says that the log decides";
  else if (!evidence.is_traced)
    why += "; no bash ran the scripts, so that no command was seen and the log decides";
  else if (count == 0 && evidence.told_by_log > 0)
    why += ": the log says so, but nothing that compiles was executed";
  return criterion("compiled_exactly_once", count == 1, why);
}

json to_json(const CompileEvidence& evidence) {
  return {{"commands_traced", evidence.is_traced},
          {"executed", evidence.is_traced ? json(evidence.executed) : json(nullptr)},
          {"in_image", evidence.in_image},
          {"told_by_log", evidence.told_by_log}};
}

json echo_criterion(const LogAudit& seen) {
  return criterion("commands_echoed_with_times",
                   seen.has_echoes && seen.has_timestamps && !seen.timed.empty(),
                   std::to_string(seen.timed.size()) + " commands with their times");
}

json criteria_of_files(const json& audit) {
  const auto compiles = audit.at("compiles_declared").get<std::size_t>();
  // A second compile is the first criterion's, not the caches'.
  const json& violations = audit.at("violations");
  const auto caches = std::count_if(violations.begin(), violations.end(), [](const json& one) {
    return one.at("kind") != "second_compile";
  });
  return {
      criterion("compiled_exactly_once", compiles == 1,
                "the files declare " + std::to_string(compiles) + " compiles"),
      criterion("no_cache_or_builder_image", caches == 0, std::to_string(caches) + " in the files"),
      criterion("commands_echoed_with_times", std::nullopt, "only a run or its log shows it"),
      criterion("verified_inside_the_run", std::nullopt, "only a run shows it")};
}

json criteria_of_log(const LogAudit& seen) {
  const auto caches = std::count_if(seen.findings.begin(), seen.findings.end(), is_violation);
  return {
      criterion("compiled_exactly_once", seen.compiles == 1,
                "the log shows " + std::to_string(seen.compiles) + " compiles"),
      criterion("no_cache_or_builder_image", caches == 0, std::to_string(caches) + " in the log"),
      echo_criterion(seen),
      criterion("verified_inside_the_run", std::nullopt, "only a run shows it")};
}

}  // namespace assay::scenarios
