#include "engine/runner/nvml.h"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace assay::runner {
namespace {

constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kCoreSensor = 0;
constexpr int kTooSmall = 7;
constexpr unsigned kMostProcesses = 64;
// A sample of who works lasts up to a second, and may be as old when it is read.
constexpr std::chrono::seconds kSample{2};
constexpr unsigned kRoomForSamples = 1024;
constexpr unsigned kMostSamples = 1U << 16;

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

// nvmlClocksEventReasonApplicationsClocksSetting
constexpr std::uint64_t kSetByOperator = 0x2;

// nvmlProcessInfo_t, nvmlProcessUtilizationSample_t and nvmlUtilization_t (NVML API reference;
// since CUDA 11).
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
static_assert(sizeof(ProcessInfo) == 24);
struct ProcessSample {
  unsigned pid = 0;
  unsigned long long time_us = 0;
  unsigned sm_pct = 0;
  unsigned memory_pct = 0;
  unsigned encoder_pct = 0;
  unsigned decoder_pct = 0;
};
static_assert(sizeof(ProcessSample) == 32);
struct Utilisation {
  unsigned gpu_pct = 0;
  unsigned memory_pct = 0;
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
  int (*processes)(void*, unsigned*, ProcessInfo*) = nullptr;
  int (*working)(void*, ProcessSample*, unsigned*, unsigned long long) = nullptr;
  int (*utilisation)(void*, Utilisation*) = nullptr;

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
    resolve(working, "nvmlDeviceGetProcessUtilization");
    resolve(utilisation, "nvmlDeviceGetUtilizationRates");
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

GpuState Nvml::read(Look look) const {
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
    state.is_set_lower = (reasons & kSetByOperator) != 0;
  }
  unsigned count = 0;
  // Asked with no room, it answers how many there are.
  if (call.processes != nullptr) {
    const int result = call.processes(device_, &count, nullptr);
    if (result == 0 || result == kTooSmall) state.processes = count;
  }
  if (look == Look::neighbours) read_neighbours(state);
  return state;
}

// It takes no less room than it asks for, which is a hundred samples, however few there are.
void Nvml::read_working(GpuState& state, unsigned long long since_us) const {
  const auto working = functions_->working;
  if (working == nullptr) return;
  std::vector<ProcessSample> samples(kRoomForSamples);
  unsigned count = kRoomForSamples;
  int result = working(device_, samples.data(), &count, since_us);
  if (result == kTooSmall && count > samples.size() && count <= kMostSamples) {
    samples.resize(count);
    result = working(device_, samples.data(), &count, since_us);
  }
  if (result != 0) return;
  for (std::size_t i = 0; i < count && i < samples.size(); ++i) {
    const ProcessSample& sample = samples[i];
    // Shares beyond the whole were seen, and mean nothing.
    if (sample.time_us < since_us || sample.sm_pct > 100) continue;
    state.working.push_back({.pid = sample.pid, .sm_pct = sample.sm_pct});
  }
}

void Nvml::read_neighbours(GpuState& state) const {
  const Functions& call = *functions_;
  std::array<ProcessInfo, kMostProcesses> processes{};
  unsigned count = kMostProcesses;
  if (call.processes != nullptr && call.processes(device_, &count, processes.data()) == 0) {
    state.processes = count;
    for (unsigned i = 0; i < count && i < kMostProcesses; ++i) {
      state.pids.push_back(processes[i].pid);
    }
  }
  using std::chrono::duration_cast;
  const auto since = std::chrono::system_clock::now().time_since_epoch() - kSample;
  const auto since_us =
      static_cast<unsigned long long>(duration_cast<std::chrono::microseconds>(since).count());
  read_working(state, since_us);
  Utilisation utilisation;
  if (call.utilisation != nullptr && call.utilisation(device_, &utilisation) == 0) {
    state.busy_pct = utilisation.gpu_pct;
  }
}

}  // namespace assay::runner
