// Where no reference says what is right, the variants' outputs are held against each other: what
// that has found, in words. Compares nothing itself (sweep_job.h).
//
// Functions of values; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/node/sweep_row.h"

namespace assay::node {

// The first of those that passed, the first of those that differ from it, and who is like neither.
inline constexpr int kOutputGroups = 3;

// Some differ from others: nobody knows which are right.
[[nodiscard]] bool have_disagreed(const std::vector<SweepRow>& rows);

// The warning `variants_disagree`, which names both sides.
[[nodiscard]] nlohmann::json warning_of_disagreement(const std::vector<SweepRow>& rows);

// That nothing but each other spoke for them; "" where they were not held against each other.
[[nodiscard]] std::string told_of_agreement(const std::vector<SweepRow>& rows);

}  // namespace assay::node
