// The role `step`: becomes a command of the user's, in a folder, after the confinement is in force.
// `--role=step --cwd=FOLDER -- PROGRAM ARGUMENT…`. What cannot be executed is told, as one line, on
// the channel's descriptor, which a successful exec closes.
#pragma once

namespace assay::runner {

// Returns only if the command cannot be executed.
int become_step(int argc, char** argv);

}  // namespace assay::runner
