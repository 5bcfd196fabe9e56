// evaluate: compile, validate (against a reference if one is given), time, profile.
#include "tools/kernel_request.h"
#include "tools/old_arguments.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {

using mcp::CallContext;
using mcp::Json;

mcp::Tool evaluate(Jobs& jobs, const Library* library) {
  return {.name = "evaluate",
          .title = "Evaluate a kernel",
          .description =
              "Compiles a GPU kernel, runs it with fresh inputs, judges its outputs against a "
              "reference kernel (if given), and times it. Returns a report: `verdict` (passed, "
              "compile_failed, contract_invalid, wrong_output, crashed, timed_out, …), `summary` "
              "with the cause, every stage. Without a GPU, CUDA runs on a PTX emulator: right or "
              "wrong is exact, times are not GPU times.",
          .annotations = {.read_only = false,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("evaluate.input.json"),
          .output_schema = schema("report.json"),
          .run =
              [&jobs, library](const Json& arguments, CallContext& context) {
                const KernelRoles roles{};
                return judge(jobs, library, roles, arguments, context);
              },
          .aliases = {{.name = "evaluate_kernel", .adapt = from_old_evaluate},
                      {.name = "validate_kernel", .adapt = from_old_validate}},
          .adapt = from_any_evaluate};
}

}  // namespace assay::tools
