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

// Where it was when a signal ended it: " at kernel.py:3", by the traceback that Python left last in
// its output (a claim, shown and never judged by); "" if none is there.
[[nodiscard]] std::string place_of_death(const std::string& output, const std::string& file);
// Adds that place to an end by a signal, and what its output says of the cause.
void explain_death(Ended& ended, const std::string& output, const std::string& file);

}  // namespace assay::node
