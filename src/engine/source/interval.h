// Ranges of integers, with the greatest value spelled in names and numbers, so that it can be said
// at any size. Private to this room.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::source {

// From low to high; `upper` spells high.
struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::string upper{};
};

[[nodiscard]] Interval exactly(std::int64_t value);
// 0 … extent - 1.
[[nodiscard]] Interval below(const Interval& extent);
// What holds both.
[[nodiscard]] Interval join(const Interval& a, const Interval& b);

// Nothing where 64 bits do not hold it, or where it is not known how far it reaches.
[[nodiscard]] std::optional<Interval> sum_of(const Interval& a, const Interval& b);
[[nodiscard]] std::optional<Interval> difference_of(const Interval& a, const Interval& b);
// '*', '/', '%', '&', '<' and '>' for the shifts, of numbers that are not negative.
[[nodiscard]] std::optional<Interval> applied(char kind, const Interval& a, const Interval& b);

}  // namespace assay::source
