// A texture argument as it travels to a runner: what the device must be told, in bytes and texels.
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"

namespace assay::node {

// {element, channels, width, height, pitch_bytes, linear_filter, normalized_coords,
// normalized_float, address: [x, y]}; height 0: linear memory. REQUIRES an argument that is one.
[[nodiscard]] nlohmann::json passed_texture(const contract::Arg& arg);

}  // namespace assay::node
