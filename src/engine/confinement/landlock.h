// Landlock: which files a thread and its descendants may open, no TCP, no signals and no abstract
// sockets to the outside. The kernel's version decides how much of that there is.
#pragma once

#include <string>
#include <vector>

#include "engine/confinement/confinement.h"

namespace assay::confinement {

// 0 where the kernel has no Landlock. 2 covers files, 3 truncation, 4 TCP, 5 ioctl on devices, 6
// signals and abstract sockets.
[[nodiscard]] int landlock_abi();

// Restricts the calling thread for good. Needs no_new_privs, and the private root entered where
// there is one. Throws SetupFailure; a path that is missing although required is one.
void restrict_files(const Confinement& confinement);

// Once more, for a worker that has started and needs less from here on: the calling thread and its
// descendants open nothing but what is below these paths, and what they may open there is no more
// than before. Nothing happens where the kernel has no Landlock. Throws SetupFailure.
void open_only_below(const std::vector<std::string>& readable,
                     const std::vector<std::string>& writable);

}  // namespace assay::confinement
