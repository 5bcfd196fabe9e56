// The Python halves of plans and generators, embedded byte for byte. Any thread.
#pragma once

#include <string_view>

namespace assay::plans {

// Throws std::out_of_range for a name that is none.
[[nodiscard]] std::string_view script_text(std::string_view file_name);

}  // namespace assay::plans
