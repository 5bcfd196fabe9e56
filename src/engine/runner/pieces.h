// Memory that a sequence (sequence.h) takes for one stretch, given in pieces: each tensor and each
// buffer beside them an allocation of its own, so that what leaves one meets no other. Its offsets
// become addresses.
//
// A value; what it is asked comes from a claim, and what fits nowhere is thrown.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/runner/sequence.h"

namespace assay::runner {

struct Piece {
  std::uint64_t begin = 0;  // in the stretch
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  // where it lies instead
};

// Every pointer, copy and fill with addresses in the place of offsets. A pointer between two pieces
// keeps its distance to the one before it; a copy or fill must lie in one. Throws
// std::runtime_error.
[[nodiscard]] Sequence in_pieces(Sequence sequence, std::vector<Piece> pieces);

}  // namespace assay::runner
