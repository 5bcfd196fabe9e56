#include "plans/optest/case_record.h"

#include <set>

namespace assay::optest {

using nlohmann::json;

const char* name(CaseStatus status) {
  switch (status) {
    case CaseStatus::passed:
      return "passed";
    case CaseStatus::failed:
      return "failed";
    case CaseStatus::error:
      return "error";
    case CaseStatus::xfail:
      return "xfail";
    case CaseStatus::xfail_pass:
      return "xfail-pass";
    case CaseStatus::unsupported:
      return "unsupported";
    case CaseStatus::cancelled:
      return "cancelled";
  }
  return "";
}

bool is_failure(CaseStatus status) {
  return status == CaseStatus::failed || status == CaseStatus::error ||
         status == CaseStatus::xfail_pass;
}

json to_json(const CaseRecord& record) {
  json out = {{"id", record.id},
              {"status", name(record.status)},
              {"details", record.details},
              {"metrics", record.metrics},
              {"xfail", record.xfail}};
  if (!record.warnings.empty()) out["warnings"] = record.warnings;
  out.update(record.more);
  return out;
}

json report_of(const json& cases) {
  json summary = {{"total", cases.size()}, {"failures", 0}};
  for (const auto status :
       {CaseStatus::passed, CaseStatus::failed, CaseStatus::error, CaseStatus::xfail,
        CaseStatus::xfail_pass, CaseStatus::unsupported, CaseStatus::cancelled}) {
    std::size_t count = 0;
    for (const auto& one : cases) {
      if (one.at("status") == name(status)) ++count;
    }
    summary[name(status)] = count;
    if (is_failure(status)) summary["failures"] = summary["failures"].get<std::size_t>() + count;
  }
  return {{"summary", std::move(summary)}, {"cases", cases}};
}

void tell_cancelled(json& report, const std::vector<std::string>& runs) {
  std::set<std::string> begun;
  for (const auto& one : report.at("cases")) begun.insert(one.at("id").get<std::string>());
  json rest = json::array();
  for (const auto& run : runs) {
    if (!begun.contains(run)) rest.push_back(run);
  }
  report["cancelled"] = true;
  report["not_started"] = std::move(rest);
}

}  // namespace assay::optest
