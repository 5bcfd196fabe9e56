// The attacks of the self-test, run from within a confinement. Nothing here does damage when it
// succeeds.
#pragma once

namespace assay::confinement {

// The role "probe": reads the targets from the channel, tries every attack, writes what came of
// each, and returns the exit code: 0, or 1 with the fault that kept it from trying.
[[nodiscard]] int run_probe(int channel);

}  // namespace assay::confinement
