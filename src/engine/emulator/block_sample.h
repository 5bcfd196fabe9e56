// The blocks of a grid that checks look at: the first, the last, and others by chance, the same for
// the same seed. A plain value.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::emulator {

class BlockSample {
 public:
  // `wanted` 0 or as many as there are: all.
  BlockSample(std::uint64_t blocks, std::uint32_t wanted, std::uint64_t seed);
  [[nodiscard]] bool is_all() const { return numbers_.empty(); }
  [[nodiscard]] bool holds(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t size() const { return is_all() ? blocks_ : numbers_.size(); }
  [[nodiscard]] std::uint64_t of() const { return blocks_; }

 private:
  std::uint64_t blocks_;
  std::vector<std::uint64_t> numbers_{};  // sorted; empty: all
};

}  // namespace assay::emulator
