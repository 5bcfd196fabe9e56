// Lists of words that this room's files look tokens up in. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace assay::source {

template <std::size_t N>
[[nodiscard]] constexpr bool is_one_of(std::string_view text,
                                       const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace assay::source
