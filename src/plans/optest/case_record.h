// What came of one run: the entry of a plan's report. Values; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::optest {

enum class CaseStatus { passed, failed, error, xfail, xfail_pass, unsupported, cancelled };
// "passed", "failed", "error", "xfail", "xfail-pass", "unsupported", "cancelled"
[[nodiscard]] const char* name(CaseStatus status);
// Of those a run fails by.
[[nodiscard]] bool is_failure(CaseStatus status);

struct CaseRecord {
  std::string id{};
  CaseStatus status = CaseStatus::error;
  std::string details{};
  nlohmann::json metrics = nlohmann::json::object();
  bool xfail = false;
  std::vector<std::string> warnings{};
  // argv, cwd, repro, attempts, steps, cache, seeds, wall_ms, isolation …
  nlohmann::json more = nlohmann::json::object();
};

[[nodiscard]] nlohmann::json to_json(const CaseRecord& record);

// {"summary": {"total", "failures", one count per status}, "cases": […]}
[[nodiscard]] nlohmann::json report_of(const nlohmann::json& cases);
// Of a report that ends before its plan: `cancelled`, and in `not_started` those of the runs that
// the report has no case of.
void tell_cancelled(nlohmann::json& report, const std::vector<std::string>& runs);

}  // namespace assay::optest
