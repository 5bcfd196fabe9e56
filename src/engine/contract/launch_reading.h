// The launch configuration and its bounds. Private to this room.
#pragma once

#include "engine/contract/reading.h"
#include "engine/contract/sizes.h"

namespace assay::contract {

[[nodiscard]] LaunchConfig read_launch(const Node& node, Sizes& sizes, Notes& notes);

}  // namespace assay::contract
