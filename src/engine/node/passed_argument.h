// An argument as it travels to a runner. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"
#include "engine/node/referee_session.h"

namespace assay::node {

// {name, type, bits, c_type?, unsigned?}, or {name, type, text} of a text. As bits, since JSON has
// no NaN and 64-bit integers must not become doubles.
[[nodiscard]] nlohmann::json passed_scalar(const contract::Arg& arg);

// {name, type, role, offset, bytes, shape, dtype, strides?}: offset and bytes within memory of one
// run, strides in elements.
[[nodiscard]] nlohmann::json passed_tensor(const contract::Arg& arg, const TensorPlace& place);

}  // namespace assay::node
