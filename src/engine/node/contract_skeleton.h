// A contract to start from: what the compiler's signatures give away of a kernel's arguments, with
// every guess named. An agent corrects sizes and roles instead of writing the document.
//
// Inference from the source itself belongs in contract_from_source(), which is asked first.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace assay::node {

// `kernels` as the compile runner lists them. Of `wanted` (a name or symbol), else of the first.
// {kernel, io, guesses: [text]}, or null where there is no kernel to tell of; `io` is null when an
// argument is of no type a contract can hold, and `guesses` says which.
[[nodiscard]] nlohmann::json contract_skeleton(const nlohmann::json& kernels,
                                               const std::string& wanted,
                                               const std::string& source);

}  // namespace assay::node
