#include "tools/step_job.h"

#include "tools/job_answer.h"
#include "tools/refusal.h"

namespace assay::tools {

using mcp::Json;
using mcp::ToolResult;

std::optional<std::filesystem::path> located(const Library* library, const std::string& path,
                                             const std::string& pointer,
                                             std::vector<contract::Violation>& violations) {
  if (library == nullptr) {
    violations.push_back({pointer, "this server reads no files"});
    return std::nullopt;
  }
  auto found = library->files.locate(path);
  if (const auto* none = std::get_if<NoSourceFile>(&found)) {
    violations.push_back({pointer, path + " " + none->reason});
    return std::nullopt;
  }
  return std::get<std::filesystem::path>(std::move(found));
}

ToolResult make_step_job(Jobs& jobs, const job::Kind& kind, nlohmann::json request,
                         const Json& arguments, mcp::CallContext& context) {
  auto submitted = submit_job(jobs, kind, std::move(request), context.principal);
  if (auto* refused = std::get_if<ToolResult>(&submitted)) return std::move(*refused);
  return answer_for_new_job(jobs, std::get<std::string>(submitted), arguments, context);
}

void copy_members(const Json& arguments, std::initializer_list<const char*> keys,
                  nlohmann::json& into) {
  for (const char* key : keys) {
    const auto found = arguments.find(key);
    if (found != arguments.end() && !found->is_null()) into[key] = *found;
  }
}

}  // namespace assay::tools
