// Arguments as clients of the system before this one send them under its tools' old names: flat
// ("kernel_source"), nested in "request", or the oldest two codes. Rewritten into what today's
// tools take; what is already in that form, or in none that is known, is left as it is, for the
// schema to judge.
//
// Pure; any thread; throws on no JSON.
#pragma once

#include "mcp/json.h"

namespace assay::tools {

// For evaluate: evaluate_kernel.
[[nodiscard]] mcp::Json from_old_evaluate(mcp::Json arguments);
// The same, as far as validation: validate_kernel.
[[nodiscard]] mcp::Json from_old_validate(mcp::Json arguments);
// For compare: compare_kernels.
[[nodiscard]] mcp::Json from_old_compare(mcp::Json arguments);

}  // namespace assay::tools
