// How the referee tells of one output: the words that both examiners share.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"
#include "engine/judge/comparison.h"

namespace assay::runner {

// Whether the tensor holds poison before a run: only a pure output that the contract does not fill.
[[nodiscard]] bool is_poisoned(const contract::Arg& argument);

// {name, dtype, shape, tolerance, ok: true}: an output that nothing speaks against.
[[nodiscard]] nlohmann::json judged_output(const contract::Arg& argument,
                                           const judge::ToleranceInForce& tolerance);

// What a comparison adds to it.
[[nodiscard]] nlohmann::json describe(const judge::Comparison& comparison);

}  // namespace assay::runner
