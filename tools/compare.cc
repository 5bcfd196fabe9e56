// compare: a reference and a candidate, the same inputs, separate processes, the reference first.
#include "tools/kernel_request.h"
#include "tools/old_arguments.h"
#include "tools/schemas.h"
#include "tools/tools.h"

namespace assay::tools {

using mcp::CallContext;
using mcp::Json;

mcp::Tool compare(Jobs& jobs, const Library* library) {
  return {
      .name = "compare",
      .title = "Compare two kernels",
      .description =
          "Judges `custom_kernel` against `ref_kernel`: same inputs, separate processes. A wrong "
          "output comes with how many elements differ, the worst one, and the pattern the errors "
          "have in common (tail not handled, transposed, every 32nd column, …). What the "
          "reference completed is kept also when the candidate fails. `speedup` says faster, "
          "slower or indistinguishable where there is a GPU clock to say it by.",
      .annotations = {.read_only = false,
                      .destructive = false,
                      .idempotent = true,
                      .open_world = false},
      .input_schema = schema("compare.input.json"),
      .output_schema = schema("report.json"),
      .run =
          [&jobs, library](const Json& arguments, CallContext& context) {
            const KernelRoles roles{.judged = "custom_kernel"};
            return judge(jobs, library, roles, arguments, context);
          },
      .aliases = {{.name = "compare_kernels", .adapt = from_old_compare}},
      .adapt = from_any_compare};
}

}  // namespace assay::tools
