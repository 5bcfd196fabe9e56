// `generalise`: tasks near the one that was asked for. Other sizes, where the contract names them
// and writes its shapes with the names; other contents, within the bounds that the contract gives.
// Drawn anew for every call, after the kernel was handed in: nothing can be written for them.
//
// Pure but for the generator; any thread.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "tools/kernel_argument.h"

namespace assay::tools {

struct HiddenTasks {
  // [{changed: {sizes} or {inputs}, contract, reference_contract?}], as engine/node/kernel_task.h
  // takes them.
  nlohmann::json list = nlohmann::json::array();
  std::string note{};  // why there are no other sizes; "" if there are
};

// `kernel` and `reference` are arguments that read_kernel found no fault with.
// `asked`: the call's own tolerance.
[[nodiscard]] HiddenTasks hidden_tasks(const mcp::Json& kernel, const mcp::Json& reference,
                                       const contract::ToleranceRequest& asked,
                                       const References& references, std::mt19937_64& draw);

}  // namespace assay::tools
