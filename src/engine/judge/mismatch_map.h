// Where an output is wrong, as a small picture: how many wrong elements lie in each cell of a grid
// laid over it. Rows and columns as a person would write the tensor down: the last dimension
// across, the others downwards; a vector is broken into lines of equal length. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace assay::judge {

inline constexpr std::uint32_t kMaxMapSide = 32;

struct MismatchMap {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::vector<std::uint64_t> counts{};  // row by row
  bool operator==(const MismatchMap&) const = default;
};

// REQUIRES: `mismatched` has one entry per element of `shape`. No cells for no elements.
[[nodiscard]] MismatchMap mismatch_map(const std::vector<bool>& mismatched,
                                       std::span<const std::int64_t> shape);

}  // namespace assay::judge
