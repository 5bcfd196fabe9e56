// The headers that wrappers of torch_cuda are compiled with (engine/python/wrapper), by name; they
// travel inside this executable. Any thread.
#pragma once

#include <nlohmann/json.hpp>

namespace assay::node {

[[nodiscard]] nlohmann::json wrapper_headers();

}  // namespace assay::node
