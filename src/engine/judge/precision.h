// How exact an answer is: its error and the reference's own, both against the reference evaluated
// in double. A tolerance says whether an answer will do; this says whether it was computed in as
// many bits as the reference's.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/contract/contract.h"
#include "engine/judge/weak_oracle.h"

namespace assay::judge {

// An answer in double, as two parts of the output's own type: rounded to it, and what that leaves.
// Together they hold twice the type's digits.
struct InDouble {
  std::span<const std::byte> high{};
  std::span<const std::byte> low{};
};

struct Precision {
  // Roots of mean squares and greatest ones, over the elements that are finite everywhere.
  double error = 0;
  double max_error = 0;
  double reference_error = 0;
  double reference_max_error = 0;
  double rounding_error = 0;  // of the exact answer, rounded to the type: nobody's fault
  // Error over the greatest of the two above and of what rounding numbers of this size leaves on
  // the average.
  double ratio = 1;
  double usual_error = 0;  // what that leaves
  std::uint64_t elements = 0;
};

// Of several trials together: one element's errors say nothing, those of many do.
[[nodiscard]] Precision together(const Precision& one, const Precision& other);

// Sums in another order were seen to have some ten times the reference's error, arithmetic in fewer
// bits (float16 or tf32 for float32) has thousands.
inline constexpr double kMostRatio = 200;

// How far plain arithmetic may be from its type's rounding on a task. Sums of many terms, one after
// the other, lose the root of their number. What is taken as a difference of squares loses the
// square of how far the inputs lie from zero, beside how far from one another, as far as the output
// does not lie as far from zero: a product of what lies far from zero does so itself. Neither hangs
// on the unit that a tensor is in.
struct RatioLimits {
  double plain = kMostRatio;
  double cancelling = kMostRatio;  // where inputs may have cancelled
};

// `output`: what is right, in any type that holds it.
[[nodiscard]] RatioLimits ratio_limits(std::span<const TensorView> inputs,
                                       const TensorView& output);

// Whether so large an error is that of arithmetic in fewer bits. Unclear: inputs that cancel
// explain it, and fewer bits would as well. With few elements the reference may be right by luck,
// and beyond what the narrowest type loses it is something else: a difference of equals, a wrong
// answer that a tolerance lets pass.
inline constexpr std::uint64_t kLeastElements = 32;
enum class Bits { as_many, unclear, fewer };
[[nodiscard]] Bits bits_of(const Precision& precision, const RatioLimits& limits);

// Nothing for types that are no real floating ones narrower than double. All spans are contiguous,
// of one length.
[[nodiscard]] std::optional<Precision> precision_of(const InDouble& exact,
                                                    std::span<const std::byte> reference,
                                                    std::span<const std::byte> got,
                                                    contract::DType dtype);

}  // namespace assay::judge
