// How the numbers of a tensor lie: how far from zero beside how far from one another, by which it
// is known what rounding may leave of them; and how large the one in the middle is. Of some
// thousand of its elements, one somewhere in each of as many stretches; those that are not finite
// count for nothing, and of complex ones the real part does.
//
// Pure; any thread.
#pragma once

#include "engine/judge/weak_oracle.h"

namespace assay::judge {

// The mean square over the variance, 1 + (mean / deviation)²; 1 for what is all one number.
[[nodiscard]] double spread_of(const TensorView& tensor);

// Of those that are not zero, without their signs; 0 where all are. A few that are huge do not move
// it.
[[nodiscard]] double middle_size(const TensorView& tensor);

}  // namespace assay::judge
