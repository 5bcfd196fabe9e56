// The package assay_runner, embedded (engine/python): what an interpreter is given to run. Pure;
// any thread.
#pragma once

#include <string>

namespace assay::node {

// The text for `-c`.
[[nodiscard]] std::string python_bootstrap();
// {module name: text} of the rest, as JSON.
[[nodiscard]] std::string python_package();

}  // namespace assay::node
