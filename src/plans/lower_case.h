// Names are compared without regard to case: of chips, stages, operators, faults. Pure; any thread.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace assay::plans {

// ASCII letters alone change.
[[nodiscard]] inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

}  // namespace assay::plans
