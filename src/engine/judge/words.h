// Random words of a stream by index, in runs. Private to this room.
#pragma once

#include <cstdint>
#include <span>

#include "engine/judge/generator.h"
#include "engine/judge/philox.h"

namespace assay::judge {

// 32-bit words [first, first + out.size()). REQUIRES first and out.size() to be multiples of 4.
inline void random_words(const Stream& stream, std::uint64_t first, std::span<std::uint32_t> out) {
  for (std::size_t i = 0; i < out.size(); i += 4) {
    const PhiloxBlock block = philox(stream.seed, (first + i) / 4, stream.id);
    for (std::size_t k = 0; k < 4; ++k) out[i + k] = block[k];
  }
}

// 64-bit words [first, first + out.size()). REQUIRES first and out.size() to be multiples of 2.
inline void random_words(const Stream& stream, std::uint64_t first, std::span<std::uint64_t> out) {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const PhiloxBlock block = philox(stream.seed, (first + i) / 2, stream.id);
    out[i] = block[0] | (std::uint64_t{block[1]} << 32);
    out[i + 1] = block[2] | (std::uint64_t{block[3]} << 32);
  }
}

}  // namespace assay::judge
