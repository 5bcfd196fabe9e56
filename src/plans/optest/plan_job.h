// The job kind `plan`: received · planned · ran (once for every run) · concluded. Each run is told,
// with its log, before the next begins: what was done stays, whatever happens then.
#pragma once

#include <stop_token>

#include "engine/job/kind.h"
#include "plans/workshop.h"

namespace assay::optest {

[[nodiscard]] job::Kind plan_kind();

// The order: {plan, file, folder, choice, cache?, stop_on_first?, python?, isolation?}.
[[nodiscard]] node::Conclusion run_plan_job(const node::Order& order, node::Reporter& reporter,
                                            const std::stop_token& stop,
                                            const plans::Workshop& workshop);

// {backend?, chip?, cases[], tags[], skip_tags[], priority_max?}, as the order and the tool have
// it.
struct Choice;
[[nodiscard]] Choice choice_from(const nlohmann::json& document);

// [{fatal, line, column, where, message}]
struct Problem;
[[nodiscard]] nlohmann::json problems_json(const std::vector<Problem>& problems);

}  // namespace assay::optest
