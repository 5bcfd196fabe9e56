// Inputs whose contents a contract fixes: ones, zeros, one number, a range, literal data. They are
// the same in every trial, so that a kernel which ignores them (a gamma of ones, a beta of zeros)
// is right in all of them. What they could hold instead tells the two apart.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::contract {

// The same tensor with other contents, near what it holds: numbers drawn between a half of it and
// all of it, or within its range, literal data in reverse order. Nothing where contents are drawn
// already, or where others might not mean the same: of integers and booleans, of what is written
// to, of textures.
[[nodiscard]] std::optional<TensorSpec> other_contents(const Arg& arg);

// The arguments that have such.
[[nodiscard]] std::vector<std::size_t> fixed_inputs(const Contract& contract);

// Whether a tensor that is written to begins with contents (an inout, a counter from zero): a
// launch that finds what another has left does other work than the first.
[[nodiscard]] bool works_on_contents(const Contract& contract);

// "'gamma' (ones), 'beta' (zeros)"
[[nodiscard]] std::string fixed_in_words(const Contract& contract,
                                         const std::vector<std::size_t>& arguments);

}  // namespace assay::contract
