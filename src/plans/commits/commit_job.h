// The job kind `commits`: received · resolved · prepared (once for every side) · measured (once for
// every run) · compared (once for every commit) · concluded.
#pragma once

#include <stop_token>

#include "engine/job/kind.h"
#include "plans/workshop.h"

namespace assay::commits {

[[nodiscard]] job::Kind commits_kind();

// The order: see read_commit_plan().
[[nodiscard]] node::Conclusion run_commits_job(const node::Order& order, node::Reporter& reporter,
                                               const std::stop_token& stop,
                                               const plans::Workshop& workshop);

}  // namespace assay::commits
