// Which files a child sees and what it may do with them: one list, read by the private root (what
// to mount) and by Landlock (what to allow), so that the two cannot disagree. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "engine/confinement/confinement.h"

namespace assay::confinement {

enum class Access {
  read,        // and execute, where processes may be started
  read_write,  // a folder of the child's own
  device,      // read, write, ioctl
};

struct Grant {
  std::string path{};
  Access access = Access::read;
  // Missing is a set-up failure; system paths differ between distributions and may be missing.
  bool required = false;
};

// Without /proc, the private /tmp and the private /dev/shm, which are mounts of their own.
[[nodiscard]] std::vector<Grant> grants(const Confinement& confinement);

// What the runtime, the thread library and the driver read of /proc beside /proc/self.
[[nodiscard]] const std::vector<std::string>& readable_proc_files();

}  // namespace assay::confinement
