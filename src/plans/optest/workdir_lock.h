// Two runs of plans must not write the same files at once: each holds `.optest.lock` of the working
// folder while it runs. The kernel releases it when its holder dies. Owned by one thread.
#pragma once

#include <filesystem>
#include <stop_token>

#include "engine/posix/descriptor.h"

namespace assay::optest {

class WorkdirLock {
 public:
  // Waits for it, until `stop`. A folder that cannot be written to is not locked: nothing of ours
  // is written there.
  WorkdirLock(const std::filesystem::path& workdir, const std::stop_token& stop);

 private:
  posix::Descriptor file_{};
};

}  // namespace assay::optest
