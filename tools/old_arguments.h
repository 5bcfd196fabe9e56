// Arguments as clients of the system before this one send them under its tools' old names: flat
// ("kernel_source"), nested in "request", or the oldest two codes. Rewritten into what today's
// tools take; what is already in that form, or in none that is known, is left as it is, for the
// schema to judge. Where a kernel is given in both forms, both stay, and the schema refuses one.
//
// Pure; any thread; throws on no JSON.
#pragma once

#include <string_view>

#include "mcp/json.h"

namespace assay::tools {

// A name that a tool of today is called by too, and is not listed under.
[[nodiscard]] bool is_old_name(std::string_view name);

// For evaluate: evaluate_kernel.
[[nodiscard]] mcp::Json from_old_evaluate(mcp::Json arguments);
// The same, as far as validation: validate_kernel.
[[nodiscard]] mcp::Json from_old_validate(mcp::Json arguments);
// For compare: compare_kernels.
[[nodiscard]] mcp::Json from_old_compare(mcp::Json arguments);
// For compile_kernel, which has kept its name; options may also stand beside the kernel.
[[nodiscard]] mcp::Json from_old_compile(mcp::Json arguments);

// For get_job, as get_job_status, and for get_server_stats: only the wrapping was another.
[[nodiscard]] mcp::Json without_request(mcp::Json arguments);

// The same for calls of evaluate and compare by today's names. Only what is in an older form is
// touched: what is merely unknown there is refused.
[[nodiscard]] mcp::Json from_any_evaluate(mcp::Json arguments);
[[nodiscard]] mcp::Json from_any_compare(mcp::Json arguments);

}  // namespace assay::tools
