// The last process of a child, in which the role runs: puts the layers in force that concern a
// process (the namespaces are entered already). Throws SetupFailure at the first that cannot be.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "engine/confinement/confinement.h"

namespace assay::confinement {

// `parent` is the process that forked this one. `uid` is set if the process is still to change to
// it. `filter` is what filter_program() made.
void confine_worker(const Confinement& confinement, pid_t parent, std::optional<uid_t> uid,
                    const std::string& filter);

}  // namespace assay::confinement
