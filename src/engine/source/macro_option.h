// What a compiler option defines. Pure; any thread.
#pragma once

#include <string_view>

namespace assay::source {

// "T=float" of "-DT=float" and of "--define-macro=T=float"; "" of all other options.
[[nodiscard]] std::string_view defined_by(std::string_view option);

}  // namespace assay::source
