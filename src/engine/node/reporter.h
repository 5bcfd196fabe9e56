// A job's way to tell what it has done. Lives in the engine; one per job, used by the job's own
// thread.
#pragma once

#include <stdexcept>
#include <utility>

#include "engine/node/engine.h"

namespace assay::node {

// The server has gone or has cancelled: the job's thread unwinds, its runners die with their
// owners.
struct JobStopped : std::runtime_error {
  JobStopped() : std::runtime_error("the job was stopped") {}
};

class Reporter {
 public:
  virtual ~Reporter() = default;
  // Hands a stage to the server, which records them in the order told.
  virtual void tell(StageEvent event) = 0;
  // Returns when the server has recorded all that was told: called before a step begins, so that
  // what is known outlives whatever that step does. Throws JobStopped.
  virtual void settle() = 0;
  void stage(StageEvent event) {
    tell(std::move(event));
    settle();
  }
};

}  // namespace assay::node
