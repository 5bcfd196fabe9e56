// How launches ended and what turns took, as a kernel's runner tells it in its frames
// (kernel_role.cc says which members they have). Values; any thread.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/runner/device.h"

namespace assay::runner {

// A frame of type "ran", as far as every launch has it.
[[nodiscard]] nlohmann::json outcome_frame(const emulator::Outcome& outcome);
// One of the turns of a frame of type "timed".
[[nodiscard]] nlohmann::json turn_frame(const Timed& timed, const TimingPlan& plan);

}  // namespace assay::runner
