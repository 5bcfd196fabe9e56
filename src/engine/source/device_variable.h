// A variable of the device as a declaration at namespace scope spells it: "__constant__ float
// w[64], bias;". The host half of a source sees a shadow of the same name and type, as with CUDA's
// own compiler, so that cudaMemcpyToSymbol(w, …, sizeof(w)) means what it says.
//
// Reading alone. Views borrow the tokens' source. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/source/token.h"

namespace assay::source {

struct DeviceVariables {
  std::vector<std::string> names{};
  // Its value is the host's to use as well, and nothing can be copied to it.
  bool is_constant = false;
  // Initialisers that name a function of the device, as token ranges: no host has one.
  std::vector<Range> hidden{};
};

// Of the declaration [item.begin, item.end). Nothing: it declares something else, or what is
// defined elsewhere.
[[nodiscard]] std::optional<DeviceVariables> device_variables(const Tokens& tokens, Range item);

}  // namespace assay::source
