// How large the numbers of a tensor are, and how far they lie from zero beside how far from one
// another: by that it is known what rounding may leave of them. Of some thousand of its elements,
// in even steps; those that are not finite count for nothing, and of complex ones the real part
// does.
//
// Pure; any thread.
#pragma once

#include "engine/judge/weak_oracle.h"

namespace assay::judge {

struct Moments {
  double mean_square = 0;
  double spread =
      1;  // that over the variance, 1 + (mean / deviation)²; 1 for what is all one number
};

[[nodiscard]] Moments moments_of(const TensorView& tensor);

}  // namespace assay::judge
