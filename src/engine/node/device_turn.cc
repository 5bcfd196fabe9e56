#include "engine/node/device_turn.h"

#include "engine/node/canary.h"

namespace assay::node {
namespace {

Ended stopped() {
  return {.verdict = job::Verdict::cancelled, .summary = "Cancelled before it finished."};
}

}  // namespace

std::string why_held(const Gpu& gpu) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(GpuLease::kMostHeld);
  return "Another process of this machine has had " + gpu.device() + " for more than " +
         std::to_string(minutes.count()) +
         " minutes, longer than any job may: a server that was stopped or hangs. `fuser " +
         GpuLease::lock_path(gpu.uuid) + "` names it.";
}

std::optional<Ended> take_turn(std::optional<GpuLease>& lease, GpuPool& pool,
                               const std::string& client, const std::stop_token& stop) {
  lease = pool.lease(client, stop);
  if (lease) return probe_after_dead(*lease, pool, stop);
  if (stop.stop_requested()) return stopped();
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
  if (stop.stop_requested()) return stopped();
  return our_fault("Whose job had " + pool.gpu().device() +
                   " before died, and since then it does not work: " + why);
}

}  // namespace assay::node
