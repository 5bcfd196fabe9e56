// How the referee tells of one output: the words that both examiners share.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"
#include "engine/judge/comparison.h"
#include "engine/judge/precision.h"

namespace assay::runner {

// Whether the tensor holds poison before a run: only a pure output that the contract does not fill.
[[nodiscard]] bool is_poisoned(const contract::Arg& argument);

// {name, dtype, shape, tolerance, ok: true}: an output that nothing speaks against.
[[nodiscard]] nlohmann::json judged_output(const contract::Arg& argument,
                                           const judge::ToleranceInForce& tolerance);

// What a comparison adds to it.
[[nodiscard]] nlohmann::json describe(const judge::Comparison& comparison);

// {error, max_error, reference_error, reference_max_error, rounding_error, ratio, elements}, or why
// they say nothing: `same` is whether the reference in double is the reference, within tolerance.
[[nodiscard]] nlohmann::json describe(const judge::Precision& precision, bool same);

// Its member over_trials, of all trials so far: {ratio (null: infinite), elements, limit,
// plain_limit, lost, unclear}.
[[nodiscard]] nlohmann::json describe_over_trials(const judge::Precision& all,
                                                  const judge::RatioLimits& limits);

}  // namespace assay::runner
