#include "engine/node/devices.h"

#include "engine/node/canary.h"
#include "engine/node/gpu_lease.h"

namespace assay::node {
namespace {

constexpr const char* kEmulator = "emulator";

Ended stopped() {
  return {.verdict = job::Verdict::cancelled, .summary = "Cancelled before it finished."};
}

Ended shut_away(const std::string& device, const std::string& why) {
  return {.verdict = job::Verdict::engine_fault,
          .summary = device + " is in quarantine: " + why +
                     " It is tried again from time to time, and used once it answers rightly; "
                     "device \"emulator\" judges meanwhile.",
          .detail = {{"quarantine", why}}};
}

// Alone on the device, as a job would be.
DeviceGuard::Canary canary_of(GpuPool& pool) {
  return [&pool](const std::stop_token& stop) -> std::string {
    const auto lease = GpuLease::take(pool.gpu().uuid, stop);
    if (!lease) return "stopped";
    return run_canary(pool.start_apart(), RunnerRole::gpu_kernel, stop);
  };
}

}  // namespace

bool speaks_against_device(const Conclusion& conclusion) {
  const auto detail = conclusion.body.find("detail");
  if (detail != conclusion.body.end() && detail->value("left_running", false)) return true;
  return conclusion.verdict == job::Verdict::engine_fault && !conclusion.interrupted;
}

Devices::Devices(const Runners& runners, std::string preferred)
    : preferred_(std::move(preferred)),
      gpus_(preferred_ == kEmulator ? Gpus{.missing = "this server was told to use the emulator"}
                                    : find_gpus(runners)) {
  for (const Gpu& gpu : gpus_.list) {
    Place& place = places_[gpu.device()];
    place.pool = std::make_unique<GpuPool>(runners, gpu);
    place.guard = std::make_unique<DeviceGuard>(canary_of(*place.pool));
  }
}

Gpus Devices::told() const {
  Gpus told = gpus_;
  for (Gpu& gpu : told.list) gpu.facts["health"] = places_.at(gpu.device()).guard->told();
  return told;
}

Ended Devices::unknown(const std::string& device) const {
  std::string known = kEmulator;
  for (const Gpu& gpu : gpus_.list) known += ", " + gpu.device();
  return Ended{.verdict = job::Verdict::unsupported,
               .summary = "There is no device " + device + " here; devices: " + known +
                          (gpus_.missing.empty() ? "." : " (" + gpus_.missing + ")."),
               .detail = {{"missing", gpus_.missing}}};
}

std::variant<GpuPool*, Ended> Devices::first_usable(Use use, const std::stop_token& stop) const {
  for (const auto& [name, place] : places_) {
    if (use == Use::compiles || place.guard->may_use(stop)) return place.pool.get();
    if (stop.stop_requested()) return stopped();
  }
  if (places_.empty()) return nullptr;
  return shut_away(places_.begin()->first, places_.begin()->second.guard->why());
}

std::variant<GpuPool*, Ended> Devices::choose(const std::string& wanted, Use use,
                                              const std::stop_token& stop) const {
  const std::string& device = wanted == "auto" ? preferred_ : wanted;
  if (device == kEmulator) return nullptr;
  if (device == "auto") return first_usable(use, stop);
  const auto found = places_.find(device);
  if (found == places_.end()) return unknown(device);
  const Place& place = found->second;
  if (use == Use::compiles || place.guard->may_use(stop)) return place.pool.get();
  if (stop.stop_requested()) return stopped();
  return shut_away(device, place.guard->why());
}

void Devices::note(GpuPool& pool, const Conclusion& conclusion) const {
  if (!speaks_against_device(conclusion)) return;
  places_.at(pool.gpu().device()).guard->runner_failed(conclusion.body.value("summary", ""));
  pool.discard();
}

}  // namespace assay::node
