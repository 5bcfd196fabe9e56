// The job kind `generator`: received · inspected · ran (once for every script and repeat) ·
// concluded.
#pragma once

#include <stop_token>

#include "engine/job/kind.h"
#include "plans/workshop.h"

namespace assay::generators {

[[nodiscard]] job::Kind generator_kind();

// The order: {scripts: [path], eqcheck?, reference?, prefix?, workdir?, python?, env?, impl_tag?,
// commit_hash?, eq_level?, device?, dtype?, opt_gates?, module?, symbol?, requires?, timeout?,
// repeats?, return_unit?, isolation?, inspect_only?}.
[[nodiscard]] node::Conclusion run_generator_job(const node::Order& order, node::Reporter& reporter,
                                                 const std::stop_token& stop,
                                                 const plans::Workshop& workshop);

}  // namespace assay::generators
