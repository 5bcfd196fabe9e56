// What a turn is to be, out of a frame of type "time" (kernel_role.cc says which members it has).
// Values; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/runner/device.h"

namespace assay::runner {

struct Staged {
  std::uint32_t places = 0;
  std::uint32_t contents = 0;
};

// One of its turns, but for the time it may take. Throws std::runtime_error for a view that does
// not exist or a run of what was not staged, json's exceptions for a member that is not there.
[[nodiscard]] TimingPlan plan_of(const nlohmann::json& turn, const Staged& staged);

}  // namespace assay::runner
