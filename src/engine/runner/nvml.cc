#include "engine/runner/nvml.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <type_traits>

namespace assay::runner {
namespace {

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kCoreSensor = 0;
constexpr int kTooSmall = 7;

// nvmlClocksEventReason*: those that make a measurement doubtful. Idle and the clocks that an
// operator has set do not.
struct Reason {
  std::uint64_t bit = 0;
  const char* name = "";
};
constexpr std::array kReasons{
    Reason{0x4, "software power cap"},      Reason{0x8, "hardware slowdown"},
    Reason{0x20, "software thermal limit"}, Reason{0x40, "hardware thermal limit"},
    Reason{0x80, "hardware power brake"},
};

void* open_library() {
  for (const char* path : {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                           "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                           "/usr/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    if (void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

}  // namespace

struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*find)(const char*, void**) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*temperature)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
  int (*processes)(void*, unsigned*, void*) = nullptr;

  explicit Functions(void* library) {
    const auto resolve = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, symbol));
    };
    resolve(init, "nvmlInit_v2");
    resolve(find, "nvmlDeviceGetHandleByPciBusId_v2");
    resolve(clock, "nvmlDeviceGetClockInfo");
    resolve(temperature, "nvmlDeviceGetTemperature");
    resolve(power, "nvmlDeviceGetPowerUsage");
    resolve(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    resolve(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
  }
};

Nvml::Nvml(const std::string& pci) {
  void* library = open_library();
  if (library == nullptr) return;
  auto functions = std::make_unique<Functions>(library);
  if (functions->init == nullptr || functions->find == nullptr || functions->init() != 0) return;
  if (functions->find(pci.c_str(), &device_) != 0) return;
  functions_ = std::move(functions);
}

Nvml::~Nvml() = default;

GpuState Nvml::read() const {
  GpuState state;
  if (functions_ == nullptr) return state;
  const Functions& call = *functions_;
  unsigned value = 0;
  if (call.clock != nullptr && call.clock(device_, kSmClock, &value) == 0) state.sm_mhz = value;
  if (call.clock != nullptr && call.clock(device_, kMemoryClock, &value) == 0) {
    state.memory_mhz = value;
  }
  if (call.temperature != nullptr && call.temperature(device_, kCoreSensor, &value) == 0) {
    state.temperature_c = value;
  }
  if (call.power != nullptr && call.power(device_, &value) == 0) state.power_w = value * 1e-3;
  unsigned long long reasons = 0;
  if (call.reasons != nullptr && call.reasons(device_, &reasons) == 0) {
    for (const Reason& reason : kReasons) {
      if ((reasons & reason.bit) != 0) state.held_down.emplace_back(reason.name);
    }
  }
  unsigned count = 0;
  // Asked with no room, it answers how many there are.
  if (call.processes != nullptr) {
    const int result = call.processes(device_, &count, nullptr);
    if (result == 0 || result == kTooSmall) state.processes = count;
  }
  return state;
}

}  // namespace assay::runner
