// What tolerance counts for an output of which nobody says any: one table, for those who judge and
// for those who ask whether what a contract says is looser.
//
// Pure; any thread.
#pragma once

#include "engine/contract/contract.h"

namespace assay::contract {

// torch.testing.assert_close's for the types that it knows, one step of an 8-bit float, and exact
// for all others.
[[nodiscard]] Tolerance usual_tolerance(DType dtype);

}  // namespace assay::contract
