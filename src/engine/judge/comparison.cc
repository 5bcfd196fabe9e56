#include "engine/judge/comparison.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "engine/judge/elements.h"
#include "engine/judge/mismatch_pattern.h"
#include "engine/judge/poison.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;
using contract::Tolerance;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kFirstMismatches = 10;

// Which of the values that have no distance stands where it has no business.
enum class Misplaced : std::uint8_t { none, nan, infinity };

// What is known of one element after judging it.
struct Judged {
  bool right = true;
  double abs_error = 0;
  double excess = 0;  // abs_error beyond the tolerance
  double want_magnitude = 0;
  Misplaced misplaced = Misplaced::none;
};

Judged judge_finite(double abs_error, double want_magnitude, const Tolerance& tolerance) {
  const double allowed = tolerance.atol + tolerance.rtol * want_magnitude;
  return {.right = abs_error <= allowed,
          .abs_error = abs_error,
          .excess = abs_error - allowed,
          .want_magnitude = want_magnitude};
}

Judged misplaced(double want_magnitude, bool is_nan) {
  return {.right = false,
          .abs_error = kInfinity,
          .excess = kInfinity,
          .want_magnitude = want_magnitude,
          .misplaced = is_nan ? Misplaced::nan : Misplaced::infinity};
}

Judged judge_real(double got, double want, const Tolerance& tolerance) {
  if (got == want) return {.want_magnitude = std::fabs(want)};  // the same infinity too
  if (std::isnan(got) && std::isnan(want)) return {};
  if (!std::isfinite(got) || !std::isfinite(want)) {
    return misplaced(std::fabs(want), std::isnan(got) || std::isnan(want));
  }
  return judge_finite(std::fabs(got - want), std::fabs(want), tolerance);
}

double modulus(double real, double imaginary) {
  const double square = real * real + imaginary * imaginary;
  // hypot is slow, but right where the squares leave the range of double.
  return square > 0x1p-900 && square < 0x1p900 ? std::sqrt(square) : std::hypot(real, imaginary);
}

Judged judge_complex(const double (&got)[2], const double (&want)[2], const Tolerance& tolerance) {
  bool finite = true;
  const double magnitude = modulus(want[0], want[1]);
  for (int part = 0; part < 2; ++part) {
    if (std::isfinite(got[part]) && std::isfinite(want[part])) continue;
    finite = false;
    const bool both_nan = std::isnan(got[part]) && std::isnan(want[part]);
    if (!both_nan && got[part] != want[part]) {
      return misplaced(magnitude, std::isnan(got[part]) || std::isnan(want[part]));
    }
  }
  if (finite) {
    return judge_finite(modulus(got[0] - want[0], got[1] - want[1]), magnitude, tolerance);
  }
  // Beside a NaN or an infinity that is rightly placed, a finite component is judged by itself.
  for (int part = 0; part < 2; ++part) {
    if (!std::isfinite(want[part])) continue;
    const Judged judged = judge_real(got[part], want[part], tolerance);
    if (!judged.right) return judged;
  }
  return {};
}

template <typename Integer>
Judged judge_integer(Integer got, Integer want, const Tolerance& tolerance) {
  if (got == want) return {.want_magnitude = std::fabs(static_cast<double>(want))};
  const std::uint64_t difference =
      got > want ? static_cast<std::uint64_t>(got) - static_cast<std::uint64_t>(want)
                 : static_cast<std::uint64_t>(want) - static_cast<std::uint64_t>(got);
  return judge_finite(static_cast<double>(difference), std::fabs(static_cast<double>(want)),
                      tolerance);
}

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

std::optional<std::uint64_t> ulp_distance(std::uint64_t got, std::uint64_t want, DType dtype) {
  if (!std::isfinite(from_bits(got, dtype)) || !std::isfinite(from_bits(want, dtype))) return {};
  return distance(ordinal(got, dtype), ordinal(want, dtype));
}

template <DType kType>
struct Storage;
#define ASSAY_STORAGE(dtype, type) \
  template <>                      \
  struct Storage<DType::dtype> {   \
    using Type = type;             \
  };
ASSAY_STORAGE(float64, std::uint64_t)
ASSAY_STORAGE(float32, std::uint32_t)
ASSAY_STORAGE(float16, std::uint16_t)
ASSAY_STORAGE(bfloat16, std::uint16_t)
ASSAY_STORAGE(float8_e4m3fn, std::uint8_t)
ASSAY_STORAGE(float8_e5m2, std::uint8_t)
ASSAY_STORAGE(int64, std::int64_t)
ASSAY_STORAGE(int32, std::int32_t)
ASSAY_STORAGE(int16, std::int16_t)
ASSAY_STORAGE(int8, std::int8_t)
ASSAY_STORAGE(uint64, std::uint64_t)
ASSAY_STORAGE(uint32, std::uint32_t)
ASSAY_STORAGE(uint16, std::uint16_t)
ASSAY_STORAGE(uint8, std::uint8_t)
ASSAY_STORAGE(boolean, std::uint8_t)
#undef ASSAY_STORAGE

// from_bits for a type known at compile time: the common ones need no call.
template <DType kType>
double value_of(typename Storage<kType>::Type bits) {
  if constexpr (kType == DType::float64) {
    return std::bit_cast<double>(bits);
  } else if constexpr (kType == DType::float32) {
    return static_cast<double>(std::bit_cast<float>(bits));
  } else if constexpr (kType == DType::bfloat16) {
    return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
  } else {
    return from_bits(bits, kType);
  }
}

// Steps between two finite values of a type known at compile time.
template <typename Bits>
std::uint64_t steps_between(Bits a, Bits b) {
  constexpr int kSign = 8 * sizeof(Bits) - 1;
  constexpr std::uint64_t kMagnitude = (std::uint64_t{1} << kSign) - 1;
  const std::uint64_t x = a & kMagnitude;
  const std::uint64_t y = b & kMagnitude;
  if ((a >> kSign) != (b >> kSign)) return x + y;
  return x > y ? x - y : y - x;
}

// The state of one comparison as it walks over the elements.
class Walk {
 public:
  Walk(std::span<const std::byte> want, std::span<const std::byte> got, DType dtype,
       const Tolerance& tolerance, std::optional<std::uint32_t> poison)
      : want_(want), got_(got), dtype_(dtype), tolerance_(tolerance), poison_(poison) {
    result_.elements = want.size() / contract::size_bytes(dtype);
  }

  template <DType kType>
  void over_reals() {
    using Bits = typename Storage<kType>::Type;
    for (std::uint64_t i = 0; i < result_.elements; ++i) {
      Bits got;
      Bits want;
      std::memcpy(&got, got_.data() + i * sizeof(Bits), sizeof(Bits));
      std::memcpy(&want, want_.data() + i * sizeof(Bits), sizeof(Bits));
      if (got == want) continue;
      // Any byte but 0 is true to C, but only 1 is a bool that others can read.
      if constexpr (kType == DType::boolean || (kType >= DType::int64 && kType <= DType::uint8)) {
        note(i, judge_integer(got, want, tolerance_));
      } else {
        const double value = value_of<kType>(got);
        Judged judged = judge_real(value, value_of<kType>(want), tolerance_);
        // A NaN is right where one is wanted, but not the one that was there before the run.
        if (judged.right && std::isnan(value) && is_poison(i)) judged = misplaced(0, true);
        note(i, judged);
        // Equal values of different bits are zeros, or both NaN.
        if (judged.abs_error > 0 && judged.misplaced == Misplaced::none) {
          result_.max_ulp_error = std::max(result_.max_ulp_error, steps_between(got, want));
        }
      }
    }
  }

  template <typename Real>
  void over_complexes() {
    for (std::uint64_t i = 0; i < result_.elements; ++i) {
      Real got[2];
      Real want[2];
      std::memcpy(got, got_.data() + i * sizeof(got), sizeof(got));
      std::memcpy(want, want_.data() + i * sizeof(want), sizeof(want));
      const auto* got_bytes = got_.data() + i * sizeof(got);
      if (std::equal(got_bytes, got_bytes + sizeof(got), want_.data() + i * sizeof(want))) continue;
      const double wide_got[2]{static_cast<double>(got[0]), static_cast<double>(got[1])};
      const double wide_want[2]{static_cast<double>(want[0]), static_cast<double>(want[1])};
      Judged judged = judge_complex(wide_got, wide_want, tolerance_);
      if (judged.right && std::isnan(wide_got[0]) && is_poison(i)) judged = misplaced(0, true);
      note(i, judged);
    }
  }

  Comparison finish(std::span<const std::int64_t> shape) {
    result_.equal = result_.mismatches == 0;
    if (result_.equal) return std::move(result_);
    result_.worst = describe(worst_, shape);
    for (std::uint64_t i = 0; i < result_.elements && result_.first.size() < kFirstMismatches;
         ++i) {
      if (mismatched_[i]) result_.first.push_back(describe(i, shape));
    }
    if (result_.elements <= kMaxExplainedElements) result_.map = mismatch_map(mismatched_, shape);
    result_.pattern = mismatch_pattern({.want = want_,
                                        .got = got_,
                                        .dtype = dtype_,
                                        .shape = shape,
                                        .tolerance = tolerance_,
                                        .poison = poison_,
                                        .mismatched = mismatched_,
                                        .mismatches = result_.mismatches});
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_poison(std::uint64_t i) const {
    return poison_ && is_signalling_poison(got_, i, dtype_, *poison_);
  }

  void note(std::uint64_t i, const Judged& judged) {
    if (judged.misplaced == Misplaced::none) {
      if (judged.abs_error > result_.max_abs_error) result_.max_abs_error = judged.abs_error;
      // The product first: a division per element would cost more than all the rest.
      if (judged.want_magnitude > 0 &&
          judged.abs_error > result_.max_rel_error * judged.want_magnitude) {
        result_.max_rel_error =
            std::max(result_.max_rel_error, judged.abs_error / judged.want_magnitude);
      }
    }
    if (judged.right) return;
    if (result_.mismatches == 0) mismatched_.assign(result_.elements, false);
    if (result_.mismatches == 0 || judged.excess > worst_excess_) {
      worst_ = i;
      worst_excess_ = judged.excess;
    }
    ++result_.mismatches;
    if (judged.misplaced == Misplaced::nan) ++result_.nan_mismatches;
    if (judged.misplaced == Misplaced::infinity) ++result_.infinity_mismatches;
    mismatched_[i] = true;
  }

  [[nodiscard]] Judged judge_again(std::uint64_t i) const {
    if (contract::is_complex(dtype_)) {
      const auto got = element_value(got_, i, dtype_);
      const auto want = element_value(want_, i, dtype_);
      return judge_complex({got.real(), got.imag()}, {want.real(), want.imag()}, tolerance_);
    }
    if (dtype_ == DType::int64) {
      return judge_integer(static_cast<std::int64_t>(element_bits(got_, i, dtype_)),
                           static_cast<std::int64_t>(element_bits(want_, i, dtype_)), tolerance_);
    }
    if (dtype_ == DType::uint64) {
      return judge_integer(element_bits(got_, i, dtype_), element_bits(want_, i, dtype_),
                           tolerance_);
    }
    return judge_real(element_value(got_, i, dtype_).real(), element_value(want_, i, dtype_).real(),
                      tolerance_);
  }

  [[nodiscard]] BadElement describe(std::uint64_t i, std::span<const std::int64_t> shape) const {
    BadElement bad{.index = std::vector<std::int64_t>(shape.size()), .position = i};
    std::uint64_t rest = i;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const auto extent = static_cast<std::uint64_t>(shape[d]);
      bad.index[d] = static_cast<std::int64_t>(rest % extent);
      rest /= extent;
    }
    bad.got = element_text(got_, i, dtype_);
    bad.want = element_text(want_, i, dtype_);
    const Judged judged = judge_again(i);
    bad.abs_error = judged.abs_error;
    bad.rel_error = std::isfinite(judged.abs_error) && judged.want_magnitude > 0
                        ? judged.abs_error / judged.want_magnitude
                        : kInfinity;
    if (contract::is_floating(dtype_)) {
      bad.ulp_error =
          ulp_distance(element_bits(got_, i, dtype_), element_bits(want_, i, dtype_), dtype_);
    }
    return bad;
  }

  std::span<const std::byte> want_;
  std::span<const std::byte> got_;
  DType dtype_;
  Tolerance tolerance_;
  std::optional<std::uint32_t> poison_;
  Comparison result_{};
  std::vector<bool> mismatched_{};  // sized at the first mismatch
  std::uint64_t worst_ = 0;
  double worst_excess_ = 0;
};

void walk_over(Walk& walk, DType dtype) {
  switch (dtype) {
    case DType::float64:
      return walk.over_reals<DType::float64>();
    case DType::float32:
      return walk.over_reals<DType::float32>();
    case DType::float16:
      return walk.over_reals<DType::float16>();
    case DType::bfloat16:
      return walk.over_reals<DType::bfloat16>();
    case DType::float8_e4m3fn:
      return walk.over_reals<DType::float8_e4m3fn>();
    case DType::float8_e5m2:
      return walk.over_reals<DType::float8_e5m2>();
    case DType::int64:
      return walk.over_reals<DType::int64>();
    case DType::int32:
      return walk.over_reals<DType::int32>();
    case DType::int16:
      return walk.over_reals<DType::int16>();
    case DType::int8:
      return walk.over_reals<DType::int8>();
    case DType::uint64:
      return walk.over_reals<DType::uint64>();
    case DType::uint32:
      return walk.over_reals<DType::uint32>();
    case DType::uint16:
      return walk.over_reals<DType::uint16>();
    case DType::uint8:
      return walk.over_reals<DType::uint8>();
    case DType::boolean:
      return walk.over_reals<DType::boolean>();
    case DType::complex64:
      return walk.over_complexes<float>();
    case DType::complex128:
      return walk.over_complexes<double>();
  }
}

}  // namespace

Comparison compare(std::span<const std::byte> expected, std::span<const std::byte> got, DType dtype,
                   std::span<const std::int64_t> shape, const Tolerance& tolerance,
                   std::optional<std::uint32_t> poison) {
  std::uint64_t bytes = contract::size_bytes(dtype);
  for (const std::int64_t extent : shape) bytes *= static_cast<std::uint64_t>(extent);
  if (expected.size() != bytes || got.size() != bytes) {
    throw std::invalid_argument("compare: a span is not shape × dtype bytes");
  }
  Walk walk(expected, got, dtype, tolerance, poison);
  walk_over(walk, dtype);
  return walk.finish(shape);
}

std::optional<Mutation> input_mutated(std::span<const std::byte> before,
                                      std::span<const std::byte> after) {
  if (before.size() != after.size()) throw std::invalid_argument("input_mutated: sizes differ");
  if (before.empty() || std::memcmp(before.data(), after.data(), before.size()) == 0) return {};
  Mutation mutation;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] == after[i]) continue;
    if (mutation.count_bytes++ == 0) mutation.first_byte = i;
  }
  return mutation;
}

}  // namespace assay::judge
