// A bit per byte of a range: which were ever written, or which sectors touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::emulator {

class ByteSet {
 public:
  explicit ByteSet(std::size_t bytes = 0) : bits_((bytes + 63) / 64) {}
  void add(std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count;) {
      const std::size_t n = std::min(64 - i % 64, begin + count - i);
      bits_[i / 64] |= ones(n) << i % 64;
      i += n;
    }
  }
  void remove(std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count;) {
      const std::size_t n = std::min(64 - i % 64, begin + count - i);
      bits_[i / 64] &= ~(ones(n) << i % 64);
      i += n;
    }
  }
  // The first of [begin, begin + count) that is not in the set, or begin + count.
  [[nodiscard]] std::size_t first_missing(std::size_t begin, std::size_t count) const {
    for (std::size_t i = begin; i < begin + count;) {
      const std::size_t n = std::min(64 - i % 64, begin + count - i);
      const std::uint64_t missing = ~(bits_[i / 64] >> i % 64) & ones(n);
      if (missing != 0) return i + static_cast<std::size_t>(__builtin_ctzll(missing));
      i += n;
    }
    return begin + count;
  }
  [[nodiscard]] bool holds_any(std::size_t begin, std::size_t count) const {
    for (std::size_t i = begin; i < begin + count;) {
      const std::size_t n = std::min(64 - i % 64, begin + count - i);
      if ((bits_[i / 64] >> i % 64 & ones(n)) != 0) return true;
      i += n;
    }
    return false;
  }
  [[nodiscard]] std::size_t count() const {
    std::size_t n = 0;
    for (const std::uint64_t b : bits_) n += static_cast<std::size_t>(__builtin_popcountll(b));
    return n;
  }

 private:
  [[nodiscard]] static std::uint64_t ones(std::size_t n) {
    return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
  }
  std::vector<std::uint64_t> bits_;
};

}  // namespace assay::emulator
