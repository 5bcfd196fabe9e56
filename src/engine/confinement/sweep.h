// Killing everything below the calling process, which must be a child subreaper: daemons and
// processes that change their pid faster than they can be counted are among it. For levels without
// a pid namespace; with one, killing its init does the same.
#pragma once

#include <sys/types.h>

#include <optional>

namespace assay::confinement {

// What is known of the descendants, so that one system call reaches all of them at once.
struct Kin {
  // Theirs alone.
  std::optional<uid_t> uid{};
  // The process group that the call filter keeps them in; 0 where they may leave it.
  pid_t group = 0;
};

// Returns when no descendant is left, reaped. Where neither is known, /proc is searched until
// nothing is found, which a process that forks all the time can outrun for long.
void kill_descendants(const Kin& kin);

}  // namespace assay::confinement
