// Counts of a launch as metrics. Sums over instructions that were executed; nothing here looks at
// a program while it runs.
#pragma once

#include <span>
#include <vector>

#include "engine/emulator/emulator.h"
#include "engine/emulator/module.h"
#include "engine/emulator/traffic.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {

struct ProfileSource {
  const Module::Text& text;
  const AddressTable& memory;
  std::span<const Executed> executed;
  std::span<const std::uint64_t> divergent;
  const Traffic& traffic;
};

[[nodiscard]] Profile make_profile(const ProfileSource& source);

}  // namespace assay::emulator
