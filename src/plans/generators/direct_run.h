// A generator's run as a person would start it, without our harness: for the line that repeats it.
// Reads the script; any thread.
#pragma once

#include "plans/generators/generator_run.h"

namespace assay::generators {

[[nodiscard]] plans::Step direct_step(const GeneratorCall& call);

}  // namespace assay::generators
