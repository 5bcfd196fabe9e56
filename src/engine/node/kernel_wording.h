// What a kernel job says in words and lists, from what the referee and the contract give. Pure; any
// thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/contract/contract.h"

namespace assay::node {

// Name, type, shape, dtype, role and bytes of every argument.
[[nodiscard]] nlohmann::json arguments_of(const contract::Contract& contract);

// Of an output that is not right: the sentence an agent acts on.
[[nodiscard]] std::string mismatch_summary(const nlohmann::json& output);

// " at kernel.cu:3"; nothing if the line is not known.
[[nodiscard]] std::string place_text(const nlohmann::json& where);

// After the summary of a crash on a GPU, which names no line: the next step. `detail`: that of its
// Ended. Nothing where the line is known, or printed as by `assert`.
[[nodiscard]] std::string step_after_crash(const nlohmann::json& detail);

// What a finding means and what to do about it.
[[nodiscard]] std::string finding_text(const nlohmann::json& finding);

}  // namespace assay::node
