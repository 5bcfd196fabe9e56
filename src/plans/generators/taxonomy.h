// What a generator's run means: the six codes of the generators' own taxonomy, and what real
// scripts do beside them. The harness tells facts; this decides. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/job/verdict.h"
#include "plans/step.h"

namespace assay::generators {

enum class Status {
  ok,
  import_missing,          // 1
  capability_unsupported,  // 2
  opt_path_not_triggered,  // 3
  memory_insufficient,     // 4
  equivalence_failed,      // 5
  invalid_config,          // 6
  api_mismatch,            // the generator is tied to another commit
  reference_missing,
  reference_unreadable,
  timeout,
  crashed,
  failed,  // raised something that is none of these
  environment_fault,
};

// "ok", "IMPORT_MISSING", …
[[nodiscard]] const char* name(Status status);
// 1 to 6, nothing for the others.
[[nodiscard]] std::optional<int> code(Status status);
// By a name of the taxonomy, its alias IMPORT_MISSING_SYMBOL too.
[[nodiscard]] std::optional<Status> status_named(const std::string& text);
[[nodiscard]] job::Verdict verdict_of(Status status);

struct Classified {
  Status status = Status::failed;
  std::string message{};
  nlohmann::json printed = nullptr;  // the script's own result line
  std::vector<std::string> warnings{};
};

// `facts`: the harness's result; null if there is none.
[[nodiscard]] Classified classify(const nlohmann::json& facts, const plans::StepEnd& end,
                                  bool eqcheck_requested);

// Every JSON object that begins a line of an output; NaN and Infinity are given as texts.
[[nodiscard]] std::vector<nlohmann::json> json_lines(const std::string& output);

}  // namespace assay::generators
