// Which of the names that are there somebody meant who wrote another: "; nearest: scale", to be put
// behind a list of them, or "" where none is spelt alike. Template arguments and capitals do not
// count.
//
// Values own their text. Pure; any thread. Names beyond a length are left out, so that the cost is
// bounded by their number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

[[nodiscard]] std::string nearest_name(std::string_view wanted,
                                       const std::vector<std::string>& names);

}  // namespace assay::source
