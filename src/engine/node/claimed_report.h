// Parts of what a kernel's runner answers that go into a report as they were said: of each what the
// engine and its report read of it is there and of its type. What is not leaves for decode_claim()
// (claimed_value.h).
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

namespace assay::node {

// Of a run on the emulator: loads out of bounds, the first of them.
[[nodiscard]] nlohmann::json told_strays(const nlohmann::json& body);
// Of an inspection: what `checks` found, and what was counted.
[[nodiscard]] nlohmann::json told_findings(const nlohmann::json& list);
[[nodiscard]] nlohmann::json told_profile(const nlohmann::json& said);
[[nodiscard]] nlohmann::json told_counters(const nlohmann::json& said);
// Of a launch that did not complete; an object without members if it said none.
[[nodiscard]] nlohmann::json told_fault(const nlohmann::json& body);
// Of a turn the device's state (runner/nvml.h); null where it was not asked for.
[[nodiscard]] nlohmann::json told_state(const nlohmann::json& turn);

}  // namespace assay::node
