#include "tools/requirements_argument.h"

#include "plans/requirement_form.h"

namespace assay::tools {

void check_requirements(const mcp::Json& needs, std::vector<contract::Violation>& violations) {
  for (const auto& one : plans::malformed_requirements(needs)) {
    violations.push_back({"/requires/" + one.key, one.message});
  }
}

}  // namespace assay::tools
