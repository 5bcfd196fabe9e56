// The four acceptance criteria of a scenario: compiled exactly once, no cache or builder image,
// commands echoed with their times, verified inside the run. A run judges all four; an audit, of
// files or of a log, those that it can see. Values; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "plans/scenarios/audit.h"

namespace assay::scenarios {

// {criterion, ok, why}; ok is null where this cannot be seen.
[[nodiscard]] nlohmann::json criterion(const char* name, std::optional<bool> ok,
                                       const std::string& why);

// What speaks for how often it was compiled.
struct CompileEvidence {
  bool is_traced = false;       // the scripts' commands were written down as they were executed
  bool log_decides = false;     // the scenario says what lines count, and no commands
  std::size_t executed = 0;     // compile commands of the scripts
  std::size_t in_image = 0;     // compile commands of the Dockerfile that was built, each once
  std::size_t told_by_log = 0;  // lines that say that a compile was finished
};

// Two kinds of evidence that disagree are the larger one; a log alone proves nothing where the
// commands could be seen.
[[nodiscard]] std::size_t compile_count(const CompileEvidence& evidence);
[[nodiscard]] nlohmann::json compile_criterion(const CompileEvidence& evidence);
[[nodiscard]] nlohmann::json to_json(const CompileEvidence& evidence);

[[nodiscard]] nlohmann::json echo_criterion(const LogAudit& seen);

// `audit`: of static_audit.
[[nodiscard]] nlohmann::json criteria_of_files(const nlohmann::json& audit);
[[nodiscard]] nlohmann::json criteria_of_log(const LogAudit& seen);

}  // namespace assay::scenarios
