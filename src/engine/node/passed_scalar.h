// A scalar argument as it travels to a runner: as bits, since JSON has no NaN and 64-bit integers
// must not become doubles. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"

namespace assay::node {

// {name, type, bits, c_type?, unsigned?}, or {name, type, text} of a text.
[[nodiscard]] nlohmann::json passed_scalar(const contract::Arg& arg);

}  // namespace assay::node
