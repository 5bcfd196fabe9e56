#include "tools/inferred_extents.h"

namespace assay::tools {
namespace {

constexpr std::size_t kMaxDigits = 16;
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
  std::string text = greatest.upper;
  if (text.empty() || text.size() > kMaxText || text == std::to_string(greatest.high)) {
    return std::to_string(greatest.high + 1);
  }
  // The numbers at its end, and the one that makes an extent of it: n-1+1 is n+1 elements.
  std::int64_t rest = 1;
  for (;;) {
    const auto sign = text.find_last_not_of("0123456789");
    const bool is_sum = sign != std::string::npos && sign > 0 && sign + 1 < text.size() &&
                        text.size() - sign < kMaxDigits && (text[sign] == '+' || text[sign] == '-');
    if (!is_sum) break;
    const std::int64_t number = std::stoll(text.substr(sign + 1));
    rest += text[sign] == '+' ? number : -number;
    text.resize(sign);
  }
  if (rest == 0) return text;
  return text + (rest > 0 ? "+" : "-") + std::to_string(rest > 0 ? rest : -rest);
}

}  // namespace assay::tools
