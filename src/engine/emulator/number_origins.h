// Where the NaNs and infinities that registers hold were made, for those that were made of ordinary
// numbers: whoever stores one is told of that place. Kept beside a block's registers while it is
// inspected; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "engine/emulator/op.h"

namespace assay::emulator {

struct NumberOrigin {
  std::uint32_t pc = kNowhere;  // kNowhere: not known, or meant
  bool is_nan = false;
  bool of_infinities = false;  // a NaN that none would be if nothing had left the range
  [[nodiscard]] bool is_known() const { return pc != kNowhere; }
};

class NumberOrigins {
 public:
  // A row is written by instructions that do not tell, too: an entry holds for the value it was
  // made for only.
  [[nodiscard]] NumberOrigin find(const std::byte* row, unsigned lane, std::uint64_t held) const {
    const auto at = rows_.find(row);
    if (at == rows_.end() || (at->second.lanes >> lane & 1U) == 0) return {};
    return at->second.held[lane] == held ? at->second.of[lane] : NumberOrigin{};
  }
  void set(const std::byte* row, unsigned lane, std::uint64_t held, NumberOrigin origin) {
    if (rows_.size() >= kMostRows && !rows_.contains(row)) return;
    Row& r = rows_[row];
    r.lanes |= 1U << lane;
    r.held[lane] = held;
    r.of[lane] = origin;
  }
  void forget(const std::byte* row, std::uint32_t lanes) {
    const auto at = rows_.find(row);
    if (at == rows_.end()) return;
    at->second.lanes &= ~lanes;
    if (at->second.lanes == 0) rows_.erase(at);
  }
  // The same of a thread's local memory.
  [[nodiscard]] NumberOrigin in_local(std::uint64_t key, std::uint64_t held) const {
    const auto at = local_.find(key);
    return at != local_.end() && at->second.held == held ? at->second.origin : NumberOrigin{};
  }
  void put_in_local(std::uint64_t key, std::uint64_t held, NumberOrigin origin) {
    if (!origin.is_known()) {
      if (!local_.empty()) local_.erase(key);
    } else if (local_.size() < kMostLocal) {
      local_[key] = {held, origin};
    }
  }
  [[nodiscard]] bool has_local() const { return !local_.empty(); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  static constexpr std::size_t kMostRows = 4096;
  static constexpr std::size_t kMostLocal = 1U << 16;
  struct Row {
    std::uint32_t lanes = 0;
    std::array<std::uint64_t, 32> held{};
    std::array<NumberOrigin, 32> of{};
  };
  struct Kept {
    std::uint64_t held = 0;
    NumberOrigin origin{};
  };
  std::unordered_map<const std::byte*, Row> rows_{};
  std::unordered_map<std::uint64_t, Kept> local_{};
};

}  // namespace assay::emulator
