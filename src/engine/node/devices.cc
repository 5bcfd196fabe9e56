#include "engine/node/devices.h"

#include "engine/node/canary.h"
#include "engine/node/gpu_lease.h"

namespace assay::node {
namespace {

constexpr const char* kEmulator = "emulator";
constexpr const char* kAnyGpu = "gpu";

Ended shut_away(const std::string& device, const std::string& why) {
  return {.verdict = job::Verdict::engine_fault,
          .summary = device + " is in quarantine: " + why +
                     " It is tried again from time to time, and used once it answers rightly; "
                     "device \"emulator\" judges meanwhile.",
          .detail = {{"quarantine", why}}};
}

Ended closed(const std::string& why) {
  return {.verdict = job::Verdict::unsupported,
          .summary = why + " Device \"emulator\" judges meanwhile.",
          .detail = {{"missing", why}}};
}

// Alone on the device, as a job would be.
DeviceGuard::Canary canary_of(GpuPool& pool) {
  return [&pool](const std::stop_token& stop) -> std::optional<std::string> {
    auto lease = pool.lease({}, stop, GpuLease::kMostHeld);
    if (!lease) return std::nullopt;
    std::string why = run_canary(pool.start_apart(), RunnerRole::gpu_kernel, stop);
    // What a dead holder left is not to be forgotten by a canary that was not right.
    if (lease->follows_dead() && !why.empty()) lease->doubt();
    return why;
  };
}

}  // namespace

bool speaks_against_device(const Conclusion& conclusion) {
  const auto detail = conclusion.body.find("detail");
  if (detail != conclusion.body.end() && detail->value("left_running", false)) return true;
  return conclusion.verdict == job::Verdict::engine_fault && !conclusion.interrupted;
}

Devices::Devices(const Runners& runners, const std::string& preferred,
                 std::chrono::seconds keep_warm)
    : Devices(runners, preferred,
              preferred == kEmulator ? Gpus{.missing = "this server was told to use the emulator"}
                                     : find_gpus(runners),
              canary_of, keep_warm) {}

Devices::Devices(const Runners& runners, std::string preferred, Gpus gpus, const MakeCanary& canary,
                 std::chrono::seconds keep_warm)
    : preferred_(std::move(preferred)), gpus_(std::move(gpus)), loads_(gpus_.list.size()) {
  for (const Gpu& gpu : gpus_.list) {
    Place place{.pool = std::make_unique<GpuPool>(runners, gpu, keep_warm)};
    place.guard = std::make_unique<DeviceGuard>(canary(*place.pool));
    places_.push_back(std::move(place));
  }
}

Gpus Devices::told() const {
  Gpus told = gpus_;
  for (std::size_t i = 0; i < told.list.size(); ++i) {
    const DeviceLoads::Count count = loads_.count(i);
    told.list[i].facts["health"] = places_[i].guard->told();
    told.list[i].facts["jobs"] = {{"running", count.running}, {"served", count.served}};
  }
  return told;
}

std::size_t Devices::index_of(const std::string& device) const {
  const Gpu* found = gpus_.find(device);
  return found == nullptr ? places_.size() : static_cast<std::size_t>(found - gpus_.list.data());
}

Ended Devices::unknown(const std::string& device) const {
  std::string known = kEmulator;
  for (const Gpu& gpu : gpus_.list) known += ", " + gpu.device();
  return Ended{.verdict = job::Verdict::unsupported,
               .summary = "There is no device " + device + " here; devices: " + known +
                          (gpus_.missing.empty() ? "." : " (" + gpus_.missing + ")."),
               .detail = {{"missing", gpus_.missing}}};
}

std::variant<Devices::Chosen, Ended> Devices::any_usable(Use use, const std::string& client,
                                                         const std::stop_token& stop) const {
  if (use == Use::compiles) return Chosen{.pool = places_.front().pool.get()};
  std::vector<DeviceLoads::Candidate> candidates;
  for (const Place& place : places_) {
    const Gpu& gpu = place.pool->gpu();
    candidates.push_back({.may_serve = gpu.unusable().empty(),
                          .knows_client = place.pool->knows(client),
                          .held_elsewhere = GpuLease::is_held(gpu.uuid)});
  }
  // Who sits there while the device is proved keeps others away, who find it proved or shut.
  while (DeviceLoads::Seat seat = loads_.join_best(candidates)) {
    const std::size_t device = DeviceLoads::device_of(seat);
    const Place& place = places_[device];
    if (place.guard->may_use(stop)) {
      return Chosen{.pool = place.pool.get(), .seat = std::move(seat)};
    }
    if (stop.stop_requested()) return cancelled();
    candidates[device].may_serve = false;
  }
  for (const Place& place : places_) {
    const Gpu& gpu = place.pool->gpu();
    if (gpu.unusable().empty()) return shut_away(gpu.device(), place.guard->why());
  }
  return closed(places_.front().pool->gpu().unusable());
}

std::variant<Devices::Chosen, Ended> Devices::choose(const std::string& wanted, Use use,
                                                     const std::string& client,
                                                     const std::stop_token& stop) const {
  const std::string& device = wanted == "auto" ? preferred_ : wanted;
  if (device == kEmulator) return Chosen{};
  if (device == "auto" && places_.empty()) return Chosen{};
  if ((device == "auto" || device == kAnyGpu) && !places_.empty()) {
    return any_usable(use, client, stop);
  }
  const std::size_t index = index_of(device);
  if (index == places_.size()) return unknown(device);
  const Place& place = places_[index];
  if (use == Use::compiles) return Chosen{.pool = place.pool.get()};
  if (const auto why = place.pool->gpu().unusable(); !why.empty()) return closed(why);
  Chosen chosen{.pool = place.pool.get(), .seat = loads_.join(index)};
  if (place.guard->may_use(stop)) return chosen;
  if (stop.stop_requested()) return cancelled();
  return shut_away(device, place.guard->why());
}

void Devices::note(GpuPool& pool, const Conclusion& conclusion) const {
  if (!speaks_against_device(conclusion)) return;
  places_.at(index_of(pool.gpu().device()))
      .guard->runner_failed(conclusion.body.value("summary", ""));
  pool.discard();
}

}  // namespace assay::node
