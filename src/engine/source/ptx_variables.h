// Which variables a program in PTX has of its own: those outlast a launch, so that it can keep
// something from one run to the next. The engine asks before it times, the runner before it loads a
// module anew: both here, so that neither misses what the other sees.
//
// Reads words, not grammar: what only looks like a declaration (a parameter that points to
// `.global`) counts as one. Pure; any thread.
#pragma once

#include <string_view>

namespace assay::source {

// Written by kernels: `.global .align 4 .u32 x;`, `.global .attribute(.managed) .align 4 .u32 x;`.
[[nodiscard]] bool has_global_variables(std::string_view ptx);
// Written by their host: `.const .align 4 .b8 w[64];`.
[[nodiscard]] bool has_constant_variables(std::string_view ptx);

}  // namespace assay::source
