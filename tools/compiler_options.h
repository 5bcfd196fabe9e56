// What a request may tell NVRTC: those of its options that change code generation, language or
// diagnostics; none that names a file, a folder, a plugin or an output. Decided here and nowhere
// else.
//
// Any thread.
#pragma once

#include <string>

namespace assay::tools {

[[nodiscard]] bool is_allowed_option(const std::string& option);

// For a message: each by the spelling that people write, a space before each.
[[nodiscard]] std::string allowed_options();

}  // namespace assay::tools
