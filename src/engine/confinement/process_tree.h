// The processes below a process, as /proc shows them at this moment. Any thread.
#pragma once

#include <sys/types.h>

#include <vector>

namespace assay::confinement {

// Without `root`. Empty when it is gone or has none. Threads' children are included.
[[nodiscard]] std::vector<pid_t> descendants(pid_t root);

}  // namespace assay::confinement
