// PID 1 of a child's pid namespace (and the same process without one at L1n): finishes the
// namespaces, forks the worker, waits for it and tells the keeper how it ended. As PID 1 it would
// change what signals do to the worker, hence two processes; when it exits, the kernel kills the
// whole namespace.
#pragma once

#include <sys/types.h>

#include <optional>

#include "engine/confinement/confinement.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

// Flags for clone() of the init of this level.
[[nodiscard]] unsigned long namespace_flags(const Layers& layers);

// `old_uid` and `old_gid` are the keeper's, as seen before the namespaces were entered. Returns in
// the worker only, which confine_worker() is to finish; the init ends in here. Throws SetupFailure,
// in the init or in the worker.
[[nodiscard]] pid_t run_init(const Confinement& confinement, std::optional<uid_t> uid,
                             uid_t old_uid, gid_t old_gid, const posix::Descriptor& line);

}  // namespace assay::confinement
