// What the engine hands to a child before it is confined: the Confinement and the system call
// filter, in a memfd. It comes from the engine and is trusted, but checked: a plan that is not
// whole confines nothing.
#pragma once

#include <string>

#include "engine/confinement/confinement.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

struct Plan {
  Confinement confinement{};
  std::string filter{};
};

// Throws std::system_error.
[[nodiscard]] posix::Descriptor write_plan(const Plan& plan);
// Throws std::runtime_error.
[[nodiscard]] Plan read_plan(int descriptor);

}  // namespace assay::confinement
