// What this node can do, as check_capabilities answers it and every report's `environment` repeats
// it. Facts that were seen, with the reason for each that is missing.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/confinement/isolation.h"
#include "engine/node/compilation.h"
#include "engine/node/engine.h"
#include "engine/node/gpus.h"
#include "engine/node/interpreter.h"
#include "engine/node/toolkit.h"

namespace assay::node {

[[nodiscard]] nlohmann::json capabilities(const confinement::Isolation& isolation,
                                          const Toolkit& toolkit, const CompilerFacts& compiler,
                                          const Gpus& gpus,
                                          const std::vector<Interpreter>& interpreters,
                                          unsigned slots);

// What a report says of it: the level and the layers that were seen to be in force.
[[nodiscard]] nlohmann::json isolation_in_force(const confinement::Isolation& isolation);

// The runners cannot be confined as required: nothing runs.
[[nodiscard]] Conclusion refused_isolation(const confinement::Isolation& isolation);

}  // namespace assay::node
