#include "engine/judge/varied.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "engine/judge/elements.h"
#include "engine/judge/philox.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;

double fraction(std::uint32_t word) { return word / 4294967296.0; }

// The components of a tensor as they are stored.
class Elements {
 public:
  Elements(std::span<std::byte> tensor, DType dtype)
      : tensor_(tensor), part_(contract::component(dtype)), size_(contract::size_bytes(part_)) {}

  [[nodiscard]] std::uint64_t count() const { return tensor_.size() / size_; }
  [[nodiscard]] std::uint64_t bits(std::uint64_t i) const {
    return element_bits(tensor_, i, part_);
  }
  void put(std::uint64_t i, std::uint64_t bits) {
    std::memcpy(tensor_.data() + i * size_, &bits, size_);
  }
  [[nodiscard]] std::uint64_t one() const {
    return contract::is_floating(part_) ? to_bits(1.0, part_) : 1;
  }
  [[nodiscard]] std::uint64_t minus_one() const { return to_bits(-1.0, part_); }
  // Of an element that is one or minus one.
  [[nodiscard]] std::uint64_t opposite(std::uint64_t i) const {
    return bits(i) == one() ? minus_one() : one();
  }
  // Nothing but these.
  [[nodiscard]] bool are(std::initializer_list<std::uint64_t> values) const {
    for (std::uint64_t i = 0; i < count(); ++i) {
      if (std::find(values.begin(), values.end(), bits(i)) == values.end()) return false;
    }
    return true;
  }

 private:
  std::span<std::byte> tensor_;
  DType part_;
  std::size_t size_;
};

// Elements that are all one of a few: masks, labels. `seed` chooses which become others.
class Marks {
 public:
  Marks(Elements& elements, std::uint64_t seed, std::uint64_t row)
      : elements_(elements), seed_(seed), row_(std::min(row, elements.count())) {}

  // About a quarter of what is `from` becomes `to`, one at least; the first and the last of each
  // row stay.
  void exchange(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> may;
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      const auto [first, last] = ends_of(from, begin);
      for (std::uint64_t i = first + 1; i < last; ++i) {
        if (elements_.bits(i) == from) may.push_back(i);
      }
    }
    for (const std::uint64_t i : chosen(may)) elements_.put(i, to);
  }

  // Each row as it was, its elements so much further on, the last ones at its beginning.
  void rotate() {
    const std::uint64_t by = 1 + philox(seed_, 0, 3)[0] % (row_ - 1);
    std::vector<std::uint64_t> was(row_);
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      for (std::uint64_t i = 0; i < row_; ++i) was[i] = elements_.bits(begin + i);
      for (std::uint64_t i = 0; i < row_; ++i) elements_.put(begin + (i + by) % row_, was[i]);
    }
  }

  // Each row is ones and then zeros, a length told as a mask; some row has zeros.
  [[nodiscard]] bool are_lengths(std::uint64_t one) const {
    bool is_whole = true;
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      const std::uint64_t length = length_of(one, begin);
      if (length == 0) return false;
      for (std::uint64_t i = length; i < row_; ++i) {
        if (elements_.bits(begin + i) == one) return false;
      }
      is_whole = is_whole && length == row_;
    }
    return !is_whole;
  }

  // Shorter ones, of one element at least.
  void shorten(std::uint64_t one) {
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      const std::uint64_t length = length_of(one, begin);
      if (length == 1) continue;
      const std::uint64_t now = 1 + philox(seed_, begin, 5)[0] % (length - 1);
      for (std::uint64_t i = now; i < length; ++i) elements_.put(begin + i, 0);
    }
  }

  // A square that is equal to its transpose.
  [[nodiscard]] bool is_symmetric() const {
    if (row_ < 2 || elements_.count() != row_ * row_) return false;
    for (std::uint64_t i = 0; i < row_; ++i) {
      for (std::uint64_t j = 0; j < i; ++j) {
        if (elements_.bits(i * row_ + j) != elements_.bits(j * row_ + i)) return false;
      }
    }
    return true;
  }

  // As exchange(), an element with its mirror image.
  void exchange_in_pairs(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> may;
    for (std::uint64_t i = 0; i < row_; ++i) {
      for (std::uint64_t j = i; j < row_; ++j) {
        if (is_between_ends(from, i, j) && is_between_ends(from, j, i)) may.push_back(i * row_ + j);
      }
    }
    for (const std::uint64_t at : chosen(may)) {
      elements_.put(at, to);
      elements_.put(at % row_ * row_ + at / row_, to);
    }
  }

  void negate() {
    std::vector<std::uint64_t> may;
    for (std::uint64_t i = 0; i < elements_.count(); ++i) {
      if (elements_.bits(i) != 0) may.push_back(i);
    }
    for (const std::uint64_t i : chosen(may)) elements_.put(i, elements_.opposite(i));
  }

  // One `value` in each row.
  [[nodiscard]] bool is_one_hot(std::uint64_t value) const {
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      const auto [first, last] = ends_of(value, begin);
      if (first != last || elements_.bits(first) != value) return false;
    }
    return row_ > 1;
  }

 private:
  [[nodiscard]] std::vector<std::uint64_t> chosen(const std::vector<std::uint64_t>& may) const {
    std::vector<std::uint64_t> some;
    for (const std::uint64_t i : may) {
      if (fraction(philox(seed_, i, 2)[0]) < 0.25) some.push_back(i);
    }
    if (some.empty() && !may.empty()) some.push_back(may[philox(seed_, 0, 4)[0] % may.size()]);
    return some;
  }

  [[nodiscard]] std::uint64_t length_of(std::uint64_t one, std::uint64_t begin) const {
    std::uint64_t length = 0;
    while (length < row_ && elements_.bits(begin + length) == one) ++length;
    return length;
  }

  // It is a `value`, and neither the first nor the last of its row.
  [[nodiscard]] bool is_between_ends(std::uint64_t value, std::uint64_t i, std::uint64_t j) const {
    if (elements_.bits(i * row_ + j) != value) return false;
    const auto [first, last] = ends_of(value, i * row_);
    return i * row_ + j > first && i * row_ + j < last;
  }

  // Where the first and the last `value` of a row are; its begin twice if there is none.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> ends_of(std::uint64_t value,
                                                                std::uint64_t begin) const {
    std::uint64_t first = begin;
    while (first < begin + row_ && elements_.bits(first) != value) ++first;
    if (first == begin + row_) return {begin, begin};
    std::uint64_t last = begin + row_ - 1;
    while (elements_.bits(last) != value) --last;
    return {first, last};
  }

  Elements& elements_;
  const std::uint64_t seed_;
  const std::uint64_t row_;
};

// Numbers whose rows each sum to one, as probabilities do.
class Shares {
 public:
  Shares(std::span<std::byte> tensor, DType dtype, std::uint64_t row)
      : elements_(tensor, dtype), dtype_(dtype), row_(std::min(row, elements_.count())) {}

  [[nodiscard]] bool are() const {
    if (row_ < 2) return false;
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      for (std::uint64_t i = begin; i < begin + row_; ++i) {
        if (!(at(i) >= 0)) return false;
      }
      if (!(std::fabs(sum_from(begin) - 1) < 1e-2)) return false;
    }
    return true;
  }
  void restore() {
    for (std::uint64_t begin = 0; begin < elements_.count(); begin += row_) {
      const double sum = sum_from(begin);
      for (std::uint64_t i = begin; sum > 0 && i < begin + row_; ++i) {
        elements_.put(i, to_bits(at(i) / sum, dtype_));
      }
    }
  }

 private:
  [[nodiscard]] double at(std::uint64_t i) const { return from_bits(elements_.bits(i), dtype_); }
  [[nodiscard]] double sum_from(std::uint64_t begin) const {
    double sum = 0;
    for (std::uint64_t i = begin; i < begin + row_; ++i) sum += at(i);
    return sum;
  }

  Elements elements_;
  const DType dtype_;
  const std::uint64_t row_;
};

}  // namespace

void vary(std::span<std::byte> tensor, DType dtype, std::uint64_t seed) {
  const DType part = contract::component(dtype);
  if (!contract::is_floating(part)) return;
  const std::size_t size = contract::size_bytes(part);
  const std::size_t count = tensor.size() / size;
  double greatest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = std::fabs(from_bits(element_bits(tensor, i, part), part));
    if (std::isfinite(value)) greatest = std::max(greatest, value);
  }
  if (greatest == 0) return;
  const PhiloxBlock drawn = philox(seed, 0, 0);
  const double scale = 0.6 + 0.3 * fraction(drawn[0]);
  const double bend = 0.5 + 0.5 * fraction(drawn[1]);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = from_bits(element_bits(tensor, i, part), part);
    if (!std::isfinite(value)) continue;
    const double bent = value * ((1 + bend * (std::fabs(value) / greatest)) / (1 + bend));
    const std::uint64_t bits = to_bits(scale * bent, part);
    std::memcpy(tensor.data() + i * size, &bits, size);
  }
}

void vary_masks_too(std::span<std::byte> tensor, DType dtype, std::uint64_t seed,
                    std::uint64_t row) {
  Elements elements(tensor, dtype);
  const bool is_number = contract::is_floating(dtype);
  if (!is_number && dtype != DType::boolean) return vary(tensor, dtype, seed);
  const std::uint64_t one = elements.one();
  const bool is_zero = elements.are({0});
  if (elements.count() <= 2 && is_number) {
    for (std::uint64_t i = 0; is_zero && i < elements.count(); ++i) {
      elements.put(i, to_bits(0.25 + 0.75 * fraction(philox(seed, i, 1)[0]), dtype));
    }
    if (!is_zero) vary(tensor, dtype, seed);
    return;
  }
  Marks marks(elements, seed, row);
  if (is_zero) {
    marks.exchange(0, one);
  } else if (elements.are({0, one})) {
    if (marks.is_one_hot(one)) {
      marks.rotate();
    } else if (marks.are_lengths(one)) {
      marks.shorten(one);
    } else if (marks.is_symmetric()) {
      marks.exchange_in_pairs(one, 0);
    } else {
      marks.exchange(one, 0);
    }
  } else if (elements.are({0, one, elements.minus_one()})) {
    marks.negate();
  } else {
    Shares shares(tensor, dtype, row);
    const bool are_shares = contract::component(dtype) == dtype && shares.are();
    vary(tensor, dtype, seed);
    if (are_shares) shares.restore();
  }
}

}  // namespace assay::judge
