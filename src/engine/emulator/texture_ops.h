// Fetches through texture objects: tex.1d of linear memory, tex.2d of pitched rows.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

// Op::aux of a fetch.
inline constexpr std::uint32_t kFetchTwoDimensions = 1;
inline constexpr std::uint32_t kFetchByFloats = 2;     // coordinates
inline constexpr std::uint32_t kFetchFloatResult = 4;  // else integers of whatever sign

// d, a, b, c: results; e: the handle's row of 8 bytes; target: x; imm: y
void op_fetch_texture(Warp& w, const Op& op);

}  // namespace assay::emulator
