// Killing everything below the calling process, which must be a child subreaper: daemons and
// processes that change their pid faster than they can be counted are among it. For levels without
// a pid namespace; with one, killing its init does the same.
#pragma once

#include <sys/types.h>

#include <optional>

namespace assay::confinement {

// Returns when no descendant is left, reaped. With `uid`, which must be the descendants' alone, one
// system call kills them all; otherwise /proc is searched until nothing is found.
void kill_descendants(std::optional<uid_t> uid);

}  // namespace assay::confinement
