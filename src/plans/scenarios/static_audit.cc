#include <filesystem>
#include <fstream>
#include <iterator>

#include "plans/scenarios/audit.h"
#include "plans/scenarios/scenario_job.h"

namespace assay::scenarios {
namespace {

using nlohmann::json;

using Auditor = std::vector<Finding> (*)(const std::string& text, const std::string& file,
                                         const Subject& subject);

std::vector<Finding> audit_whole_script(const std::string& text, const std::string& file,
                                        const Subject& subject) {
  return audit_script(text, file, subject);
}

constexpr std::uintmax_t kMaxFileBytes = 4U << 20;

void look_at(const std::string& path, Auditor audit, const Subject& subject,
             std::vector<Finding>& findings, json& files) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream || size > kMaxFileBytes) {
    findings.push_back(
        {"unreadable", path, 0, "", error ? error.message() : "cannot be read, or is too large"});
    return;
  }
  files.push_back(path);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  for (auto& finding : audit(text, path, subject)) findings.push_back(std::move(finding));
}

}  // namespace

json static_audit(const json& request) {
  const Subject subject = subject_from(request);
  std::vector<Finding> findings;
  json files = json::array();
  const auto look = [&](const char* key, Auditor audit) {
    if (request.contains(key))
      look_at(request.at(key).get<std::string>(), audit, subject, findings, files);
  };
  look("dockerfile", audit_dockerfile);
  look("devcontainer", audit_devcontainer);
  look("post_create", audit_whole_script);
  for (const auto& script : request.value("scripts", std::vector<std::string>{})) {
    look_at(script, audit_whole_script, subject, findings, files);
  }
  std::vector<Finding> violations;
  std::size_t compiles = 0;
  for (const auto& finding : findings) {
    if (finding.kind == "compile" && ++compiles > 1) {
      Finding second = finding;
      second.kind = "second_compile";
      second.message = "compiles again what an earlier line compiles";
      violations.push_back(second);
    }
    if (is_violation(finding)) violations.push_back(finding);
  }
  return {{"findings", to_json(findings)},
          {"violations", to_json(violations)},
          {"compiles_declared", compiles},
          {"files", std::move(files)}};
}

}  // namespace assay::scenarios
