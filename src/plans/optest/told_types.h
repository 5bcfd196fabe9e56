// Shapes and dtypes of a run as they are told: in requests, records and tokens. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "plans/optest/plan.h"

namespace assay::optest {

// [[2, 3], …]
[[nodiscard]] nlohmann::json told_shapes(const std::vector<Shape>& shapes);
// ["float32", …]
[[nodiscard]] nlohmann::json told_dtypes(const std::vector<contract::DType>& dtypes);

}  // namespace assay::optest
