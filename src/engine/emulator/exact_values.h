// What 32-bit index arithmetic would have given in numbers without end, for the lanes in which that
// differs from what the register holds. Kept beside a block's registers while it is inspected; one
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/emulator/op.h"

namespace assay::emulator {

__extension__ typedef __int128 Exact;

// A register of a lane read both ways, as PTX does not say which one the source means. Where both
// ways are wrong for what it is used as, the arithmetic has wrapped.
struct ExactValue {
  Exact as_signed = 0;
  Exact as_unsigned = 0;
  std::uint32_t signed_pc = kNowhere;  // of the instruction that wrapped it, if it is not exact
  std::uint32_t unsigned_pc = kNowhere;
  Exact index = 0;          // when it was made 64 bits wide: what it should have been
  std::int64_t became = 0;  // and what it was
  [[nodiscard]] bool is_exact() const { return signed_pc == kNowhere && unsigned_pc == kNowhere; }
};

class ExactValues {
 public:
  // A row is written by instructions that do not tell, too: an entry holds for the value it was
  // made for only.
  [[nodiscard]] const ExactValue* find(const std::byte* row, unsigned lane,
                                       std::uint64_t held) const {
    const auto at = rows_.find(row);
    if (at == rows_.end() || (at->second.lanes >> lane & 1U) == 0) return nullptr;
    return at->second.held[lane] == held ? &at->second.of[lane] : nullptr;
  }
  // False: there are more of them than are kept.
  bool set(const std::byte* row, unsigned lane, std::uint64_t held, const ExactValue& value) {
    if (rows_.size() >= kMostRows && !rows_.contains(row)) return false;
    Row& r = rows_[row];
    r.lanes |= 1U << lane;
    r.held[lane] = held;
    r.of[lane] = value;
    return true;
  }
  // Of any lane, whatever it holds now.
  [[nodiscard]] bool may_hold(const std::byte* row) const { return rows_.contains(row); }
  void forget(const std::byte* row, std::uint32_t lanes) {
    const auto at = rows_.find(row);
    if (at == rows_.end()) return;
    at->second.lanes &= ~lanes;
    if (at->second.lanes == 0) rows_.erase(at);
  }
  // Every one of `lanes` has in the row `to` what the lane `from` had in `row` before.
  void carry(const std::byte* row, const std::byte* to, std::uint32_t lanes,
             const std::array<std::uint32_t, 32>& before,
             const std::array<std::uint8_t, 32>& from) {
    if (rows_.empty()) return;
    std::vector<std::pair<unsigned, ExactValue>> brought;
    for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const ExactValue* const v = find(row, from[k], before[from[k]]);
      if (v != nullptr) brought.emplace_back(k, *v);
    }
    forget(to, lanes);
    for (const auto& [k, v] : brought) set(to, k, before[from[k]], v);
  }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  static constexpr std::size_t kMostRows = 4096;  // of a block: some 12 MB
  struct Row {
    std::uint32_t lanes = 0;
    std::array<std::uint64_t, 32> held{};
    std::array<ExactValue, 32> of{};
  };
  std::unordered_map<const std::byte*, Row> rows_{};
};

}  // namespace assay::emulator
