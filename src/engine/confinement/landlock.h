// Landlock: which files a thread and its descendants may open, no TCP, no signals and no abstract
// sockets to the outside. The kernel's version decides how much of that there is.
#pragma once

#include "engine/confinement/confinement.h"

namespace assay::confinement {

// 0 where the kernel has no Landlock. 2 covers files, 3 truncation, 4 TCP, 5 ioctl on devices, 6
// signals and abstract sockets.
[[nodiscard]] int landlock_abi();

// Restricts the calling thread for good. Needs no_new_privs, and the private root entered where
// there is one. Throws SetupFailure; a path that is missing although required is one.
void restrict_files(const Confinement& confinement);

}  // namespace assay::confinement
