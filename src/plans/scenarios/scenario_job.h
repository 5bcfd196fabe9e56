// The job kind `scenario`: received · audited · ran (once for every phase) · concluded. Is an
// environment really built from nothing, compiled exactly once, and does it work?
#pragma once

#include <stop_token>

#include "engine/job/kind.h"
#include "plans/workshop.h"

namespace assay::scenarios {

[[nodiscard]] job::Kind scenario_kind();

// The order: {workspace, dockerfile?, devcontainer?, post_create?, scripts?, verify?, compile?,
// forbid?, remove_images?, engine, timeout?, name?}; paths are absolute.
[[nodiscard]] node::Conclusion run_scenario_job(const node::Order& order, node::Reporter& reporter,
                                                const std::stop_token& stop,
                                                const plans::Workshop& workshop);

// What the files of such an order say, without running them: {findings, violations,
// compiles_declared, files}. Throws std::invalid_argument.
[[nodiscard]] nlohmann::json static_audit(const nlohmann::json& request);

}  // namespace assay::scenarios
