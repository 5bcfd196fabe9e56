// The private root of a child: an empty tmpfs with the granted paths bound read-only, a /proc, a
// minimal /dev, and a /tmp and /dev/shm of bounded size. Runs in the child, in its own mount
// namespace.
//
// The trees are cloned first, while the process still has the engine's uid and may pass folders
// closed to others; they are mounted afterwards, under the uid that is to own the new root.
#pragma once

#include <string>
#include <vector>

#include "engine/confinement/confinement.h"
#include "engine/confinement/grants.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

struct ClonedTree {
  Grant grant{};
  bool folder = false;
  // A detached mount, or empty for a symbolic link that is made anew.
  posix::Descriptor mount{};
  std::string link_target{};
};

// Both throw SetupFailure.
[[nodiscard]] std::vector<ClonedTree> clone_trees(const Confinement& confinement);
void enter_private_root(const Confinement& confinement, const std::vector<ClonedTree>& trees);

}  // namespace assay::confinement
