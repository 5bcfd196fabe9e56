// The part of `checks: initialised` that needs a program of its own: local variables read before
// they are written. An optimiser makes of such a read whatever it likes, so the source is compiled
// once more with -G, and the emulator compares runs that find different contents in registers and
// local memory (emulator/local_reads.h). Used by the job's thread.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <stop_token>

#include "engine/node/compilation.h"
#include "engine/node/kernel_task.h"
#include "engine/node/referee_session.h"
#include "engine/node/runners.h"

namespace assay::node {

struct LocalsRun {
  const Runners& runners;
  const Compiler& compiler;
  RefereeSession& referee;
  const KernelTask& task;
  const std::stop_token& stop;
  std::chrono::nanoseconds& execution_left;
};

// Whether these checks of this source include it.
[[nodiscard]] bool wants_locals(const KernelTask& task);
// Adds findings and notes to the answer of run_checks(), and `locals: {ran, compile_ms?, run_ms?}`.
// What could not be looked at is a note.
void check_locals(const LocalsRun& run, nlohmann::json& checks);

}  // namespace assay::node
