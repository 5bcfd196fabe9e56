// How far one spelling is from another. Whoever asks decides what counts as letters (case,
// separators, template arguments) and how far a name may be off to be meant.
//
// Pure; any thread. Costs the product of both lengths: bound them first.
#pragma once

#include <cstddef>
#include <string_view>

namespace assay::spelling {

// The fewest letters that must come, go, change or trade places with their neighbour, no stretch
// twice (optimal string alignment).
[[nodiscard]] std::size_t edits(std::string_view from, std::string_view to);

}  // namespace assay::spelling
