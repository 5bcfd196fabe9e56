// The job kinds that are made of steps, as the engine runs them.
#pragma once

#include <filesystem>
#include <functional>

#include "engine/job/kind.h"
#include "engine/node/node.h"
#include "plans/step_runner.h"

namespace assay::cli {

// Adds them to what the engine runs. REQUIRES that `config` has the kind "kernel" and capabilities
// already; `steps` may block until the machine's confinement is known.
// `disassembler`: nvdisasm or cuobjdump; empty: there is none.
void add_plan_kinds(node::NodeConfig& config, std::function<const plans::StepRunner&()> steps,
                    const std::filesystem::path& disassembler);

// All kinds of job, for the journal.
[[nodiscard]] std::vector<job::Kind> job_kinds();

}  // namespace assay::cli
