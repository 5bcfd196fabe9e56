// The "texture" of an argument. Private to this room.
#pragma once

#include <optional>

#include "engine/contract/reading.h"

namespace assay::contract {

// Notes what CUDA does not allow of this tensor, on any device; nothing after a violation.
// REQUIRES a tensor argument; without its spec only the words are checked.
[[nodiscard]] std::optional<Texture> read_texture(const Node& node, const Arg& arg, Notes& notes);

}  // namespace assay::contract
