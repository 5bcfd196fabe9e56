// CUPTI as it is found at run time: the functions that counting needs, and their parameters. The
// structs are declared here, so that no CUDA header is needed (CUPTI 12.6 to 13, range profiling
// and profiler host API).
//
// Loaded once per process that counts; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::runner::cupti {

// Kernels of a pass: two ahead of the one that is counted.
constexpr std::size_t kMostRanges = 3;

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
  int type = 0;  // of the range profiler
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  void* host = nullptr;
};
struct OfHost {
  Head head{16 + 8};
  void* host = nullptr;
};
struct MetricProperties {
  Head head{16 + 44};
  void* host = nullptr;
  const char* name = nullptr;
  const char* description = nullptr;
  const char* unit = nullptr;
  const char* dimension = nullptr;
  int type = 0;
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
  std::size_t most_ranges = kMostRanges;
  std::uint32_t most_nodes = static_cast<std::uint32_t>(kMostRanges);
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
  int range = 1;   // each kernel by itself
  int replay = 3;  // by the caller
  std::size_t most_ranges = kMostRanges;
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
  X(properties, "cuptiProfilerHostGetMetricProperties", MetricProperties)            \
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

// Ends what needs counters; `what` is for people.
struct Missing {
  std::string what{};
};

class Library {
 public:
  // Throws Missing.
  explicit Library(const std::string& path);
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Throws Missing unless the result is success; `doing` says what failed.
  void check(int result, const char* doing) const;
  // Of the process's one device. Throws Missing.
  [[nodiscard]] const char* chip() const;

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define ASSAY_DECLARE(name, symbol, type) int (*name)(type*) = nullptr;
  ASSAY_CUPTI_FUNCTIONS(ASSAY_DECLARE)
#undef ASSAY_DECLARE

 private:
  int (*result_text_)(int, const char**) = nullptr;
};

// The library itself, for whoever needs other functions of it. Throws Missing.
[[nodiscard]] void* open_library(const std::string& path);

}  // namespace assay::runner::cupti
