// What of a pasted file does not reach the compiler, in words: the same ones whichever tool was
// given it. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/source/device_code.h"

namespace assay::tools {

// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

// "host code was set aside, …"; "" if nothing was dropped.
[[nodiscard]] std::string set_aside(const source::DeviceCode& code);

}  // namespace assay::tools
