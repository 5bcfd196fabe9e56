// What is remembered of each four bytes of memory: who wrote last, who changed it by an atomic
// since, two who read since. And which
// bytes were ever written. Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/emulator/ordering.h"

namespace assay::emulator {

struct Granule {
  Touch write{};
  Touch atomic{};
  std::array<Touch, 2> reads{};
  // Remembers a read: of several by one warp the last, of several warps the last two.
  void note_read(const Touch& touch);
};

// Granules of a sparse range of addresses, in pages made when first touched.
class RaceShadow {
 public:
  // nullptr: beyond what may be remembered.
  [[nodiscard]] Granule* at(std::uint64_t address);
  [[nodiscard]] bool is_full() const { return full_; }
  // Whatever happened to these bytes is of no interest any more.
  void forget(std::uint64_t begin, std::uint64_t bytes);

 private:
  static constexpr std::uint64_t kPageBytes = 1024;
  static constexpr std::size_t kMaxPages = 12'000;  // about 300 MB
  using Page = std::array<Granule, kPageBytes / 4>;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_{};
  // Pages found last: a kernel goes back and forth between a few.
  struct Recent {
    Page* page = nullptr;
    std::uint64_t number = 0;
  };
  std::array<Recent, 16> recent_{};
  bool full_ = false;
};

// A bit per byte.
class ByteSet {
 public:
  explicit ByteSet(std::size_t bytes = 0) : bits_((bytes + 63) / 64) {}
  void add(std::size_t begin, std::size_t count) {
    for (std::size_t i = begin; i < begin + count; ++i) bits_[i / 64] |= std::uint64_t{1} << i % 64;
  }
  // The first of [begin, begin + count) that is not in the set, or begin + count.
  [[nodiscard]] std::size_t first_missing(std::size_t begin, std::size_t count) const {
    std::size_t i = begin;
    while (i < begin + count && (bits_[i / 64] >> i % 64 & 1U) != 0) ++i;
    return i;
  }
  [[nodiscard]] std::size_t count() const;

 private:
  std::vector<std::uint64_t> bits_;
};

}  // namespace assay::emulator
