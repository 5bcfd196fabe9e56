// A CUPTI without a device, for tests of what counts and records. Metrics whose names begin with
// "absent" are not of its chip; one that is added all the same spoils its host object, as CUPTI's
// does. Metrics of one call share a pass, those of another have one of their own. A context tells
// how its device behaves: kRefusing keeps counters for administrators. Every value is the number of
// passes that were made, and a hundred for each range before the one that is asked for.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "engine/runner/cupti_library.h"

using namespace assay::runner::cupti;

namespace {

struct Host {
  std::size_t passes = 0;
  bool spoilt = false;
};

struct Profiler {
  std::size_t passes = 0;  // that its configuration takes
  std::size_t made = 0;
  std::size_t ranges = 0;  // that one pass has room for
};
Profiler profiler;

bool is_absent(const char* name) { return std::string(name).starts_with("absent"); }

// What a kernel's record begins with (CUpti_ActivityKernel4 and later).
struct Record {
  std::int32_t kind = 10;
  std::uint8_t cache = 2U << 4U;
  std::uint8_t bank_width = 0;
  std::uint16_t registers = 40;
  std::int32_t unused[2]{};
  std::uint64_t start = 1000;
  std::uint64_t end = 0;
  std::uint64_t completed = 0;
  std::uint32_t where[3]{};
  std::int32_t grid[3]{};
  std::int32_t block[3]{};
  std::int32_t static_shared = 1024;
  std::int32_t dynamic_shared = 512;
  std::uint32_t local_per_thread = 16;
  std::uint32_t local_total = 0;
  std::uint32_t correlation = 0;
  std::int64_t grid_id = 0;
  const char* name = nullptr;
  void* reserved = nullptr;
  std::uint64_t times[2]{};
  std::uint8_t launch[4]{};
  std::uint32_t shared_executed = 32768;
};

void (*give)(std::uint8_t**, std::size_t*, std::size_t*) = nullptr;
void (*take)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) = nullptr;
bool records_kernels = false;
bool records_driver = false;

}  // namespace

extern "C" {

int cuptiGetResultString(int, const char** text) { return *text = "fake failure", 0; }
int cuptiProfilerInitialize(Head*) { return 0; }
int cuptiDeviceGetChipName(ChipName* told) { return told->name = "FAKE100", 0; }
int cuptiProfilerGetCounterAvailability(Availability* told) { return told->bytes = 4, 0; }
int cuptiProfilerHostInitialize(HostInitialize* made) {
  if (std::string(made->chip) != "FAKE100") return 1;
  return made->host = new Host, 0;
}
int cuptiProfilerHostDeinitialize(OfHost* of) { return delete static_cast<Host*>(of->host), 0; }
int cuptiProfilerHostGetMetricProperties(MetricProperties* of) {
  return is_absent(of->name) ? 1 : 0;
}
int cuptiProfilerHostConfigAddMetrics(AddMetrics* added) {
  auto& host = *static_cast<Host*>(added->host);
  for (std::size_t i = 0; i < added->count; ++i) {
    host.spoilt = host.spoilt || is_absent(added->names[i]);
  }
  ++host.passes;
  return host.spoilt ? 1 : 0;
}
int cuptiProfilerHostGetConfigImageSize(ConfigSize* of) { return of->bytes = 1, 0; }
int cuptiProfilerHostGetConfigImage(Config* of) {
  *of->image = static_cast<std::uint8_t>(static_cast<Host*>(of->host)->passes);
  return 0;
}
int cuptiProfilerHostGetNumOfPasses(Passes* of) { return of->count = *of->image, 0; }
int cuptiProfilerHostEvaluateToGpuValues(Evaluate* of) {
  if (of->range >= profiler.ranges) return 1;
  for (std::size_t i = 0; i < of->count; ++i) {
    of->values[i] = static_cast<double>(profiler.made + 100 * of->range);
  }
  return 0;
}
int cuptiRangeProfilerEnable(Enable* of) {
  constexpr std::uintptr_t kRefusing = 35;
  if (of->context == reinterpret_cast<void*>(kRefusing)) return 35;
  return of->profiler = &profiler, 0;
}
int cuptiRangeProfilerDisable(OfProfiler*) { return 0; }
int cuptiRangeProfilerStart(OfProfiler*) { return 0; }
int cuptiRangeProfilerStop(Stop* of) {
  of->is_done = ++profiler.made >= profiler.passes ? 1 : 0;
  return 0;
}
int cuptiRangeProfilerDecodeData(Decode*) { return 0; }
int cuptiRangeProfilerGetCounterDataSize(DataSize* of) { return of->bytes = 8, 0; }
int cuptiRangeProfilerCounterDataImageInitialize(DataInitialize*) { return 0; }
int cuptiRangeProfilerSetConfig(SetConfig* of) {
  profiler = {.passes = *of->config, .ranges = of->most_ranges};
  return 0;
}

int cuptiGetVersion(std::uint32_t* version) { return *version = 130001, 0; }
int cuptiActivityRegisterCallbacks(decltype(give) giving, decltype(take) taking) {
  give = giving;
  take = taking;
  return 0;
}
int cuptiActivityEnable(int kind) {
  (kind == 4 ? records_driver : records_kernels) = true;
  return 0;
}
int cuptiActivityDisable(int kind) {
  (kind == 4 ? records_driver : records_kernels) = false;
  return 0;
}
int cuptiActivityFlushAll(std::uint32_t) { return 0; }
int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t filled, void** record) {
  auto* next = *record == nullptr ? buffer : static_cast<std::uint8_t*>(*record) + sizeof(Record);
  if (next + sizeof(Record) > buffer + filled) return 1;
  return *record = next, 0;
}

// For tests: a launch of `kernel` that takes so long; does nothing unless both kinds are recorded.
void fake_launch(const char* kernel, std::uint64_t ns) {
  if (!records_kernels || !records_driver) return;
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t most = 0;
  give(&buffer, &bytes, &most);
  std::vector<Record> records(3);
  records[0].kind = 4;  // the driver's call
  records[1].name = "flush";
  records[1].end = 9'000;
  records[2].name = kernel;
  records[2].end = 1000 + ns;
  std::memcpy(buffer, records.data(), records.size() * sizeof(Record));
  take(nullptr, 0, buffer, bytes, records.size() * sizeof(Record));
}
}
