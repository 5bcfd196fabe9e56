// How much memory a child holds, read from /proc: what a watchdog samples where no memory cgroup
// bounds it. Stateless; any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>

namespace assay::confinement {

struct Resident {
  std::size_t anonymous_bytes = 0;
  // Shared memory, mapped or held only through a memfd; pinned host memory of CUDA is among it.
  // What the engine itself handed over is counted as well.
  std::size_t shared_bytes = 0;
  std::size_t processes = 0;

  [[nodiscard]] std::size_t total_bytes() const { return anonymous_bytes + shared_bytes; }
};

// Of `root` and all its descendants; nothing when `root` is gone. Give it Child::pid(): a
// descendant that daemonises stays below the keeper, not below the worker.
[[nodiscard]] std::optional<Resident> resident(pid_t root);
[[nodiscard]] std::optional<std::size_t> resident_bytes(pid_t root);

}  // namespace assay::confinement
