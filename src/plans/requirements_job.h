// The job kind `requirements`: a question about the machine, answered by the engine, since looking
// starts programs and the server starts none.
#pragma once

#include <stop_token>

#include "engine/job/kind.h"
#include "plans/workshop.h"

namespace assay::plans {

[[nodiscard]] job::Kind requirements_kind();

// The order: {requires}. The conclusion's body holds `requirements`, see requirements.h.
[[nodiscard]] node::Conclusion run_requirements_job(const node::Order& order,
                                                    node::Reporter& reporter,
                                                    const std::stop_token& stop,
                                                    const Workshop& workshop);

}  // namespace assay::plans
