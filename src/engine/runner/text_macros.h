// Macros of compiler options, put into the text of a source instead. NVRTC reads a text of its own
// before the source, in which a macro that is named as one of its words (T, _T) makes another word.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "engine/runner/nvrtc.h"

namespace assay::runner {

// Whether it failed in the compiler's own text.
[[nodiscard]] bool failed_in_own_text(const Compiled& compiled);

// The same source behind its macros, its lines numbered as they were; none without macros.
[[nodiscard]] std::optional<CompileRequest> with_macros_in_text(const CompileRequest& wanted);

}  // namespace assay::runner
