// A job's way to tell what it has done. Lives in the engine; one per job, used by the job's own
// thread.
#pragma once

#include <stdexcept>

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
  // Returns when the server has recorded the stage. Throws JobStopped.
  virtual void stage(StageEvent event) = 0;
};

}  // namespace assay::node
