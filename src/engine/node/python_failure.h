// What a Python runner says went wrong, as the end of a job: which verdict, one cause in the user's
// own lines, one next step. Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/node/ended.h"

namespace assay::node {

// `failed`: a reply of that type (engine/python/assay_runner/failure.py); `output`: the last that
// was printed. Throws json exceptions on a reply that is none.
[[nodiscard]] Ended python_failure(const nlohmann::json& failed, const std::string& file,
                                   const std::string& output);

}  // namespace assay::node
