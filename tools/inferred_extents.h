// Between a proposed launch and how far accesses reach in it. Private to inferred_contract.cc.
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/source/reach.h"
#include "tools/inferred_launch.h"

namespace assay::tools {

// gridDim and blockDim of {"grid": […], "block": […]}.
[[nodiscard]] source::LaunchExtents launch_extents(const nlohmann::json& launch,
                                                   const KnownSizes& known);

// How many elements an array has whose greatest index this is: "n" of n-1.
[[nodiscard]] std::string extent_text(const source::Interval& greatest);

}  // namespace assay::tools
