// The launch configuration and its bounds. Private to this room.
#pragma once

#include <array>

#include "engine/contract/reading.h"
#include "engine/contract/sizes.h"

namespace assay::contract {

// Of a grid, for every device since compute capability 3.0; a device's own limits are checked at
// launch.
inline constexpr std::array<std::int64_t, 3> kMostBlocks{2147483647, 65535, 65535};
inline constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};

// `open_grid`: as ParseOptions says.
[[nodiscard]] LaunchConfig read_launch(const Node& node, bool open_grid, Sizes& sizes,
                                       Notes& notes);

}  // namespace assay::contract
