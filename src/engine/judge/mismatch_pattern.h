// What do the mismatches of a comparison have in common? A sentence is only given if it holds for
// every mismatch, or for nine in ten and states the share; and only where chance would not give as
// much. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::judge {

struct Mismatches {
  std::span<const std::byte> want{};
  std::span<const std::byte> got{};
  contract::DType dtype = contract::DType::float32;
  std::span<const std::int64_t> shape{};
  contract::Tolerance tolerance{};
  std::optional<std::uint32_t> poison{};
  const std::vector<bool>& mismatched;  // one per element
  std::uint64_t mismatches = 0;

  [[nodiscard]] std::uint64_t elements() const { return mismatched.size(); }
};

// Beyond this many elements no explanation is attempted.
inline constexpr std::uint64_t kMaxExplainedElements = 1ULL << 26;

// Empty if nothing explains them. REQUIRES mismatches > 0.
[[nodiscard]] std::string mismatch_pattern(const Mismatches& m);

// Where they lie: a range, rows, columns, every n-th element. Empty if anywhere. In
// mismatch_position.cc.
struct Position {
  enum class Kind { anywhere, everywhere, tail, other };
  Kind kind = Kind::anywhere;
  std::uint64_t from = 0;  // of a tail: its first element
  std::string text{};
};
[[nodiscard]] Position mismatch_position(const Mismatches& m);

}  // namespace assay::judge
