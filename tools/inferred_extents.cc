#include "tools/inferred_extents.h"

namespace assay::tools {
namespace {

constexpr std::size_t kMaxText = 120;  // beyond it the number says as much

source::Interval extent(const nlohmann::json& list, std::size_t axis, const KnownSizes& known) {
  if (axis >= list.size()) return {1, 1, "1"};
  const auto text = list[axis].is_string() ? list[axis].get<std::string>() : list[axis].dump();
  const std::int64_t value = size_value(text, known).value_or(1);
  return {value, value, text};
}

}  // namespace

source::LaunchExtents launch_extents(const nlohmann::json& launch, const KnownSizes& known) {
  source::LaunchExtents extents;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    extents.grid[axis] = extent(launch.at("grid"), axis, known);
    extents.block[axis] = extent(launch.at("block"), axis, known);
  }
  return extents;
}

std::string extent_text(const source::Interval& greatest) {
  const std::string& text = greatest.upper;
  if (text.empty() || text.size() > kMaxText || text == std::to_string(greatest.high)) {
    return std::to_string(greatest.high + 1);
  }
  return text.ends_with("-1") ? text.substr(0, text.size() - 2) : text + "+1";
}

}  // namespace assay::tools
