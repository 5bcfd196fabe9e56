#include "engine/runner/cupti.h"

#include <dlfcn.h>

#include <cstdint>

namespace assay::runner {
namespace {

constexpr int kRangeProfiler = 0;
constexpr int kAutoRange = 1;
constexpr int kUserReplay = 3;
constexpr int kNoPrivilege = 35;
constexpr int kNoPrivilegeVirtual = 40;
constexpr std::size_t kMostPasses = 200;

// Every struct begins with its own size up to its last field, and a pointer that stays null.
struct Head {
  std::size_t size = 0;
  void* reserved = nullptr;
};
struct ChipName {
  Head head{24 + 8};
  std::size_t device = 0;
  const char* name = nullptr;
};
struct Availability {
  Head head{16 + 24};
  void* context = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};
struct HostInitialize {
  Head head{16 + 32};
  int type = kRangeProfiler;
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  void* host = nullptr;
};
struct OfHost {
  Head head{16 + 8};
  void* host = nullptr;
};
struct AddMetrics {
  Head head{16 + 24};
  void* host = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
};
struct ConfigSize {
  Head head{16 + 16};
  void* host = nullptr;
  std::size_t bytes = 0;
};
struct Config {
  Head head{16 + 24};
  void* host = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};
struct Passes {
  Head head{16 + 24};
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
  std::size_t count = 0;
};
struct Evaluate {
  Head head{16 + 56};
  void* host = nullptr;
  const std::uint8_t* image = nullptr;
  std::size_t bytes = 0;
  std::size_t range = 0;
  const char** names = nullptr;
  std::size_t count = 0;
  double* values = nullptr;
};
struct Enable {
  Head head{16 + 16};
  void* context = nullptr;
  void* profiler = nullptr;
};
struct OfProfiler {
  Head head{16 + 8};
  void* profiler = nullptr;
};
struct Stop {
  Head head{16 + 25};
  void* profiler = nullptr;
  std::size_t pass = 0;
  std::size_t nesting = 0;
  std::uint8_t is_done = 0;
};
struct Decode {
  Head head{16 + 16};
  void* profiler = nullptr;
  std::size_t dropped = 0;
};
struct DataSize {
  Head head{16 + 48};
  void* profiler = nullptr;
  const char** names = nullptr;
  std::size_t count = 0;
  std::size_t most_ranges = 1;
  std::uint32_t most_nodes = 1;
  std::size_t bytes = 0;
};
struct DataInitialize {
  Head head{16 + 24};
  void* profiler = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};
struct SetConfig {
  Head head{16 + 74};
  void* profiler = nullptr;
  std::size_t config_bytes = 0;
  const std::uint8_t* config = nullptr;
  std::size_t data_bytes = 0;
  std::uint8_t* data = nullptr;
  int range = kAutoRange;
  int replay = kUserReplay;
  std::size_t most_ranges = 1;
  std::uint16_t nesting_levels = 1;
  std::uint16_t least_nesting = 1;
  std::size_t pass = 0;
  std::uint16_t target_nesting = 1;
};

// X(name, symbol, parameter struct)
#define ASSAY_CUPTI_FUNCTIONS(X)                                                     \
  X(initialize, "cuptiProfilerInitialize", Head)                                     \
  X(chip_name, "cuptiDeviceGetChipName", ChipName)                                   \
  X(availability, "cuptiProfilerGetCounterAvailability", Availability)               \
  X(host_initialize, "cuptiProfilerHostInitialize", HostInitialize)                  \
  X(host_deinitialize, "cuptiProfilerHostDeinitialize", OfHost)                      \
  X(add_metrics, "cuptiProfilerHostConfigAddMetrics", AddMetrics)                    \
  X(config_size, "cuptiProfilerHostGetConfigImageSize", ConfigSize)                  \
  X(config, "cuptiProfilerHostGetConfigImage", Config)                               \
  X(passes, "cuptiProfilerHostGetNumOfPasses", Passes)                               \
  X(evaluate, "cuptiProfilerHostEvaluateToGpuValues", Evaluate)                      \
  X(enable, "cuptiRangeProfilerEnable", Enable)                                      \
  X(disable, "cuptiRangeProfilerDisable", OfProfiler)                                \
  X(start, "cuptiRangeProfilerStart", OfProfiler)                                    \
  X(stop, "cuptiRangeProfilerStop", Stop)                                            \
  X(decode, "cuptiRangeProfilerDecodeData", Decode)                                  \
  X(data_size, "cuptiRangeProfilerGetCounterDataSize", DataSize)                     \
  X(data_initialize, "cuptiRangeProfilerCounterDataImageInitialize", DataInitialize) \
  X(set_config, "cuptiRangeProfilerSetConfig", SetConfig)

// Ends the set-up; `what` is for people.
struct Missing {
  std::string what{};
};

}  // namespace

class CounterSession::Library {
 public:
  explicit Library(const std::string& path) {
    if (path.empty()) throw Missing{"CUPTI (libcupti.so) was not found beside the toolkit"};
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw Missing{"CUPTI cannot be loaded: " + std::string(::dlerror())};
// The arguments become names and types, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSAY_RESOLVE(name, symbol, type)                                                        \
  name = reinterpret_cast<int (*)(type*)>(::dlsym(library, symbol));                             \
  if ((name) == nullptr) {                                                                       \
    throw Missing{std::string("this CUPTI is too old for range profiling: it lacks ") + symbol}; \
  }
    ASSAY_CUPTI_FUNCTIONS(ASSAY_RESOLVE)
#undef ASSAY_RESOLVE
    // NOLINTEND(bugprone-macro-parentheses)
    result_text_ =
        reinterpret_cast<int (*)(int, const char**)>(::dlsym(library, "cuptiGetResultString"));
  }
  ~Library() {
    if (profiler != nullptr) {
      OfProfiler off{.profiler = profiler};
      disable(&off);
    }
    if (host != nullptr) {
      OfHost off{.host = host};
      host_deinitialize(&off);
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void check(int result, const char* doing) const {
    if (result == 0) return;
    if (result == kNoPrivilege || result == kNoPrivilegeVirtual) {
      throw Missing{
          "the driver reserves hardware counters to administrators (ERR_NVGPUCTRPERM); it can be "
          "told otherwise with the module option NVreg_RestrictProfilingToAdminUsers=0"};
    }
    const char* text = nullptr;
    if (result_text_ != nullptr) result_text_(result, &text);
    throw Missing{std::string(doing) + ": " +
                  (text != nullptr ? text : "CUPTI error " + std::to_string(result))};
  }

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define ASSAY_DECLARE(name, symbol, type) int (*name)(type*) = nullptr;
  ASSAY_CUPTI_FUNCTIONS(ASSAY_DECLARE)
#undef ASSAY_DECLARE

  void* host = nullptr;
  void* profiler = nullptr;
  std::vector<std::string> names{};
  std::vector<const char*> pointers{};
  std::vector<std::uint8_t> image{};
  std::vector<std::uint8_t> data{};

 private:
  int (*result_text_)(int, const char**) = nullptr;
};

void CounterReadings::add(const CounterReadings& more) {
  values.insert(values.end(), more.values.begin(), more.values.end());
  refused.insert(refused.end(), more.refused.begin(), more.refused.end());
  passes += more.passes;
  // A metric that does not exist takes nothing from the others.
  if (values.empty()) missing = more.missing;
}

std::vector<std::vector<std::string>> sessions_of(const std::vector<std::string>& metrics) {
  std::vector<std::vector<std::string>> sessions(1);
  for (const auto& metric : metrics) {
    if (metric.find("__sass_") != metric.npos) {
      sessions.push_back({metric});
    } else {
      sessions.front().push_back(metric);
    }
  }
  if (sessions.front().empty()) sessions.erase(sessions.begin());
  return sessions;
}

CounterSession::CounterSession(const CounterRequest& request, cuda::Handle context) {
  try {
    begin(request, context);
  } catch (const Missing& missing) {
    readings_.missing = missing.what;
  }
}

CounterSession::~CounterSession() = default;

void CounterSession::begin(const CounterRequest& request, cuda::Handle context) {
  library_ = std::make_unique<Library>(request.library);
  Library& cupti = *library_;
  Head head{sizeof(Head)};
  cupti.check(cupti.initialize(&head), "starting the profiler");
  ChipName chip;
  cupti.check(cupti.chip_name(&chip), "asking for the chip");
  Availability available{.context = context};
  cupti.check(cupti.availability(&available), "asking for counters");
  std::vector<std::uint8_t> availability(available.bytes);
  available.image = availability.data();
  cupti.check(cupti.availability(&available), "asking for counters");
  HostInitialize initialize{.chip = chip.name, .availability = availability.data()};
  cupti.check(cupti.host_initialize(&initialize), "reading the chip's metrics");
  cupti.host = initialize.host;
  for (const auto& metric : request.metrics) {
    const char* one = metric.c_str();
    AddMetrics add{.host = cupti.host, .names = &one, .count = 1};
    if (cupti.add_metrics(&add) == 0) {
      cupti.names.push_back(metric);
    } else {
      readings_.refused.push_back(metric);
    }
  }
  if (cupti.names.empty()) throw Missing{"none of the metrics exist on this device"};
  for (const auto& name : cupti.names) cupti.pointers.push_back(name.c_str());
  ConfigSize size{.host = cupti.host};
  cupti.check(cupti.config_size(&size), "configuring");
  cupti.image.resize(size.bytes);
  Config config{.host = cupti.host, .bytes = size.bytes, .image = cupti.image.data()};
  cupti.check(cupti.config(&config), "configuring");
  Passes passes{.bytes = size.bytes, .image = cupti.image.data()};
  cupti.check(cupti.passes(&passes), "counting passes");
  readings_.passes = passes.count;
  Enable enable{.context = context};
  cupti.check(cupti.enable(&enable), "enabling the counters");
  cupti.profiler = enable.profiler;
  DataSize data{
      .profiler = cupti.profiler, .names = cupti.pointers.data(), .count = cupti.pointers.size()};
  cupti.check(cupti.data_size(&data), "sizing the counter data");
  cupti.data.resize(data.bytes);
  DataInitialize fresh{
      .profiler = cupti.profiler, .bytes = cupti.data.size(), .image = cupti.data.data()};
  cupti.check(cupti.data_initialize(&fresh), "initialising the counter data");
  SetConfig set{.profiler = cupti.profiler,
                .config_bytes = cupti.image.size(),
                .config = cupti.image.data(),
                .data_bytes = cupti.data.size(),
                .data = cupti.data.data()};
  cupti.check(cupti.set_config(&set), "programming the counters");
}

int CounterSession::measure(const std::function<int()>& prepare,
                            const std::function<int()>& launch) {
  if (!readings_.missing.empty()) return cuda::kSuccess;
  Library& cupti = *library_;
  try {
    bool is_done = false;
    for (std::size_t pass = 0; pass < kMostPasses && !is_done; ++pass) {
      if (const int result = prepare(); result != cuda::kSuccess) return result;
      OfProfiler of{.profiler = cupti.profiler};
      cupti.check(cupti.start(&of), "starting a pass");
      if (const int result = launch(); result != cuda::kSuccess) return result;
      Stop stop{.profiler = cupti.profiler};
      cupti.check(cupti.stop(&stop), "ending a pass");
      is_done = stop.is_done != 0;
    }
    evaluate();
  } catch (const Missing& missing) {
    readings_.values.clear();
    readings_.missing = missing.what;
  }
  return cuda::kSuccess;
}

void CounterSession::evaluate() {
  Library& cupti = *library_;
  Decode decode{.profiler = cupti.profiler};
  cupti.check(cupti.decode(&decode), "decoding");
  std::vector<double> values(cupti.names.size());
  Evaluate evaluate{.host = cupti.host,
                    .image = cupti.data.data(),
                    .bytes = cupti.data.size(),
                    .names = cupti.pointers.data(),
                    .count = cupti.pointers.size(),
                    .values = values.data()};
  cupti.check(cupti.evaluate(&evaluate), "evaluating");
  for (std::size_t i = 0; i < values.size(); ++i) {
    readings_.values.emplace_back(cupti.names[i], values[i]);
  }
}

}  // namespace assay::runner
