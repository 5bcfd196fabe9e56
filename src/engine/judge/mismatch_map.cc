#include "engine/judge/mismatch_map.h"

#include <algorithm>
#include <cmath>

namespace assay::judge {

MismatchMap mismatch_map(const std::vector<bool>& mismatched, std::span<const std::int64_t> shape) {
  const std::uint64_t elements = mismatched.size();
  if (elements == 0) return {};
  std::uint64_t across = shape.empty() ? 1 : static_cast<std::uint64_t>(shape.back());
  if (across == elements)
    across = static_cast<std::uint64_t>(std::ceil(std::sqrt(static_cast<double>(elements))));
  const std::uint64_t down = (elements + across - 1) / across;
  MismatchMap map{
      .rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(down, kMaxMapSide)),
      .columns = static_cast<std::uint32_t>(std::min<std::uint64_t>(across, kMaxMapSide))};
  map.counts.assign(std::size_t{map.rows} * map.columns, 0);
  for (std::uint64_t i = 0; i < elements; ++i) {
    if (!mismatched[i]) continue;
    const std::uint64_t row = i / across * map.rows / down;
    const std::uint64_t column = i % across * map.columns / across;
    ++map.counts[row * map.columns + column];
  }
  return map;
}

}  // namespace assay::judge
