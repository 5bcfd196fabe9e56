// Are the outputs of a run right? The golden tensors are computed here, in a process that runs no
// user code; only a custom assertion's own process sees inputs and outputs besides.
// One thread at a time.
#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "plans/optest/custom_functions.h"
#include "plans/optest/paths.h"

namespace assay::optest {

struct Judged {
  bool ok = false;
  bool is_error = false;  // it could not be judged: no verdict on the operator
  bool checked = true;    // false: there was nothing to compare with
  std::string details{};
  nlohmann::json metrics = nlohmann::json::object();
  std::vector<std::string> warnings{};
};

[[nodiscard]] Judged judge_outputs(const Case& one, const ShapeEntry& shapes,
                                   const Resolved& resolved, CustomFunctions& functions,
                                   const std::stop_token& stop);

// The expected outputs of a builtin assertion. Throws ReferenceFault, FileFault.
[[nodiscard]] std::vector<std::vector<std::byte>> golden_of(const Case& one,
                                                            const ShapeEntry& shapes,
                                                            const Resolved& resolved);

}  // namespace assay::optest
