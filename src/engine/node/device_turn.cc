#include "engine/node/device_turn.h"

#include <algorithm>

#include "engine/node/canary.h"

namespace assay::node {
namespace {

// Of execution alone: a job compiles, stages and counts beside it.
constexpr int kTimesItsOwn = 3;

std::string why_held(const Gpu& gpu) {
  return "Another process of this machine has " + gpu.device() +
         ", and has had it for longer than it said that it may: a server that was stopped, or "
         "hangs. `fuser " +
         GpuLease::lock_path(gpu.uuid) + "` names it.";
}

}  // namespace

std::optional<Ended> take_turn(std::optional<GpuLease>& lease, GpuPool& pool,
                               const std::string& client, std::chrono::nanoseconds timeout,
                               const std::stop_token& stop) {
  const std::chrono::nanoseconds usual = GpuLease::kMostHeld;
  lease = pool.lease(client, stop, std::max(usual, kTimesItsOwn * timeout));
  if (lease) return probe_after_dead(*lease, pool, stop);
  if (stop.stop_requested()) return cancelled();
  const std::string why = why_held(pool.gpu());
  return Ended{.verdict = job::Verdict::unsupported,
               .summary = why + " Device \"emulator\" judges meanwhile.",
               .detail = {{"missing", why}}};
}

std::optional<Ended> probe_after_dead(GpuLease& lease, const GpuPool& pool,
                                      const std::stop_token& stop) {
  if (!lease.follows_dead()) return std::nullopt;
  const std::string why = run_canary(pool.start_apart(), RunnerRole::gpu_kernel, stop);
  if (why.empty()) return std::nullopt;
  lease.doubt();
  if (stop.stop_requested()) return cancelled();
  return our_fault("Whose job had " + pool.gpu().device() +
                   " before died, and since then it does not work: " + why);
}

}  // namespace assay::node
