// What surrounds the whole server, as far as it shows. Reported, never relied upon.
#pragma once

#include <string>

namespace assay::confinement {

// "docker", "podman", "kubernetes", "gvisor", "firecracker", "kvm" or "unknown".
[[nodiscard]] std::string outer_wall();

}  // namespace assay::confinement
