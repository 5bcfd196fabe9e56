// Whole numbers that may be indices, where sizes change: ids drawn between 0 and 1023 point into a
// table of 1024 rows, and out of one of 1023.
//
// Pure; any thread.
#pragma once

#include "engine/contract/contract.h"

namespace assay::contract {

// `other` is `shown` with other sizes. A bound of integers that lies within an extent there, and
// beyond the same extent here, comes back within. False where nothing would be left between the
// bounds, so that `other` cannot be asked.
[[nodiscard]] bool keep_indices_inside(Contract& other, const Contract& shown);

}  // namespace assay::contract
