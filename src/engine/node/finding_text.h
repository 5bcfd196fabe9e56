// What the referee found, as the sentences that a report gives people and models to act on. Each
// REQUIRES the referee's own form (runner/examination.cc). Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay::node {

// Of an output that differs: how many elements, the worst, and the pattern there is.
[[nodiscard]] std::string mismatch_summary(const nlohmann::json& output);

// Of a finding in a kernel that passed.
[[nodiscard]] std::string finding_sentence(const nlohmann::json& item);

}  // namespace assay::node
