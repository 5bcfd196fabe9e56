#include "engine/node/dead_holder.h"

#include "engine/node/canary.h"

namespace assay::node {

std::optional<Ended> probe_after_dead(GpuLease& lease, const GpuPool& pool,
                                      const std::stop_token& stop) {
  if (!lease.follows_dead()) return std::nullopt;
  const std::string why = run_canary(pool.start_apart(), RunnerRole::gpu_kernel, stop);
  if (why.empty()) return std::nullopt;
  lease.doubt();
  if (stop.stop_requested()) {
    return Ended{.verdict = job::Verdict::cancelled, .summary = "Cancelled before it finished."};
  }
  return our_fault("Whose job had " + pool.gpu().device() +
                   " before died, and since then it does not work: " + why);
}

}  // namespace assay::node
