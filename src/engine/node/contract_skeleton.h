// A contract to start from, with every guess named: an agent corrects sizes and roles instead of
// writing the document. What the server inferred from the source (roles, bounds, launch) counts;
// where it inferred nothing, or not what the compiler saw, the compiled signatures are all there
// is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay::node {

// `kernels` as the compile runner lists them. Of `wanted` (a name or symbol), else of the first.
// {kernel, io, guesses: [text]}, or null where there is no kernel to tell of; `io` is null when an
// argument is of no type a contract can hold, and `guesses` says which.
[[nodiscard]] nlohmann::json contract_skeleton(const nlohmann::json& kernels,
                                               const std::string& wanted);

// The one place that decides. `inferred`: {kernel, io, guesses, metadata?}, `io` null where the
// server knows that there can be none; null if it inferred nothing.
[[nodiscard]] nlohmann::json contract_draft(const nlohmann::json& kernels,
                                            const std::string& wanted,
                                            const nlohmann::json& inferred);

}  // namespace assay::node
