// Whether the server can do its work now, found out by trying: the journal takes a write, the
// engine answers, runners are confined as much as is demanded, something can compile.
#pragma once

#include "mcp/json.h"
#include "tools/jobs.h"

namespace assay::tools {

struct Health {
  bool healthy = false;
  // {status: healthy|unhealthy, job_stats, gpu_manager{available_gpus}, devices, backends,
  // isolation, active_jobs, error?, problems[]}
  mcp::OrderedJson told{};
};

// names: for whoever asks. Kinds and names only: no counts of jobs, and of what is wrong no more
// than which part it is, as the cause may hold paths.
enum class Telling { names, everything };

// Never throws; blocks until the engine has answered, the first time for as long as it takes to
// start.
[[nodiscard]] Health health(Jobs& jobs, Telling telling = Telling::everything);

}  // namespace assay::tools
