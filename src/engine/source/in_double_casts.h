// Casts of pointers where floats have become doubles: memory that was read in wider pieces
// (`reinterpret_cast<float4*>(p)`) still is, memory that was read as another type no longer has
// those bits. Private to this room; pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/source/own_words.h"
#include "engine/source/token.h"

namespace assay::source {

// Which of a source's types have fewer bits than double.
struct Widths {
  bool has_half = false;
  bool has_single = false;
};

struct UnsoundCast {
  std::size_t token = 0;  // of the type
  std::string reason{};
};

[[nodiscard]] std::vector<UnsoundCast> unsound_casts(const Tokens& tokens, const OwnWords& own,
                                                     const Widths& widths);

}  // namespace assay::source
