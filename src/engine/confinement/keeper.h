// The process that the engine spawned: makes the rest of the child, holds the leash, and reports.
#pragma once

#include <optional>

#include "engine/confinement/plan.h"

namespace assay::confinement {

// Returns the exit code in the keeper, and nothing in the worker, whose confinement is then in
// force.
[[nodiscard]] std::optional<int> keep(const Plan& plan);

// The last record of a keeper that had no plan to follow.
void report_no_plan(const char* why);

}  // namespace assay::confinement
