#include "engine/node/devices.h"

namespace assay::node {

constexpr const char* kEmulator = "emulator";

Devices::Devices(const Runners& runners, std::string preferred)
    : preferred_(std::move(preferred)),
      gpus_(preferred_ == kEmulator ? Gpus{.missing = "this server was told to use the emulator"}
                                    : find_gpus(runners)) {
  for (const Gpu& gpu : gpus_.list) {
    pools_[gpu.device()] = std::make_unique<GpuPool>(runners, gpu);
  }
}

std::variant<GpuPool*, Ended> Devices::choose(const std::string& wanted) const {
  const std::string& device = wanted == "auto" ? preferred_ : wanted;
  if (device == kEmulator) return nullptr;
  if (device == "auto") return gpus_.list.empty() ? nullptr : pools_.begin()->second.get();
  const auto pool = pools_.find(device);
  if (pool != pools_.end()) return pool->second.get();
  std::string known = kEmulator;
  for (const Gpu& gpu : gpus_.list) known += ", " + gpu.device();
  return Ended{.verdict = job::Verdict::unsupported,
               .summary = "There is no device " + device + " here; devices: " + known +
                          (gpus_.missing.empty() ? "." : " (" + gpus_.missing + ")."),
               .detail = {{"missing", gpus_.missing}}};
}

}  // namespace assay::node
