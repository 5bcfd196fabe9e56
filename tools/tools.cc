#include "tools/tools.h"

namespace assay::tools {

std::vector<mcp::Tool> all(Jobs& jobs) {
  std::vector<mcp::Tool> tools;
  tools.push_back(evaluate(jobs));
  tools.push_back(get_job(jobs));
  tools.push_back(cancel_job(jobs));
  tools.push_back(check_capabilities(jobs));
  return tools;
}

std::string instructions() {
  return "Assay judges GPU kernels. `evaluate` compiles a kernel, runs it with fresh inputs "
         "against a "
         "reference and reports a verdict; a failing kernel is a successful evaluation (isError "
         "false), "
         "so read `verdict` and `summary`. A call answers within `wait_s`; if `state` is not "
         "final, "
         "call `get_job` with the `job_id`.";
}

}  // namespace assay::tools
