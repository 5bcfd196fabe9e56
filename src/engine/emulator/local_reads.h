// Local variables that are read before they are written: what a launch does is compared between
// runs that find different contents in registers and local memory (local_trial.h), and where it
// differs, which of the places makes the difference is found by halving. So a finding is proof that
// the value matters, and what is merely read and thrown away is none.
//
// Each run begins with the buffers as they were. One thread; costs three runs of a debug build if
// there is nothing to find, and about ten shorter ones for each finding.
#pragma once

#include <chrono>
#include <functional>
#include <span>

#include "engine/emulator/emulator.h"
#include "engine/emulator/local_trial.h"
#include "engine/emulator/module.h"

namespace assay::emulator {

struct LocalSearch {
  const Module::Text& text;
  std::uint32_t entry = 0;
  const Launch& launch;
  std::span<const Buffer> buffers{};
  std::chrono::nanoseconds wall{0};  // of all runs together; 0: no limit
  // One run, with the module's variables as loaded, in the time given.
  std::function<Outcome(LocalTrial&, std::chrono::nanoseconds)> run{};
};

[[nodiscard]] Outcome find_local_reads(const LocalSearch& search);

}  // namespace assay::emulator
