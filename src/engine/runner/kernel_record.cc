#include "engine/runner/kernel_record.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "engine/runner/cupti_library.h"

namespace assay::runner {
namespace {

constexpr std::uint32_t kFirstVersion = 14;     // CUDA 11.0
constexpr std::uint32_t kBehindLast = 140'000;  // since 13.0 with the toolkit's own numbers
constexpr std::int32_t kKernel = 3;             // kinds of records
constexpr std::int32_t kConcurrentKernel = 10;
constexpr int kDriverKind = 4;                    // without it nothing launched by the driver API
constexpr std::size_t kBufferBytes = 256U << 10;  // some thousand records
constexpr std::size_t kAlignment = 8;
constexpr std::uint32_t kForced = 1;

// CUpti_ActivityKernel4 to 10: later ones only have more at the end.
struct Record {
  std::int32_t kind;
  std::uint8_t cache;  // requested, and in the upper half carried out
  std::uint8_t bank_width;
  std::uint16_t registers;
  std::int32_t global_cache[2];
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t device;
  std::uint32_t context;
  std::uint32_t stream;
  std::int32_t grid[3];
  std::int32_t block[3];
  std::int32_t static_shared;
  std::int32_t dynamic_shared;
  std::uint32_t local_per_thread;
  std::uint32_t local_total;
  std::uint32_t correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued;
  std::uint64_t submitted;
  std::uint8_t launch_type;
  std::uint8_t carveout_was_requested;
  std::uint8_t carveout_requested;
  std::uint8_t padding;
  std::uint32_t shared_executed;
};
static_assert(offsetof(Record, start) == 16 && offsetof(Record, static_shared) == 76 &&
              offsetof(Record, name) == 104 && offsetof(Record, shared_executed) == 140);

// X(name, symbol, parameters)
#define ASSAY_ACTIVITY_FUNCTIONS(X)                                            \
  X(version, "cuptiGetVersion", (std::uint32_t*))                              \
  X(callbacks, "cuptiActivityRegisterCallbacks",                               \
    (void (*)(std::uint8_t**, std::size_t*, std::size_t*),                     \
     void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t))) \
  X(enable, "cuptiActivityEnable", (int))                                      \
  X(disable, "cuptiActivityDisable", (int))                                    \
  X(flush, "cuptiActivityFlushAll", (std::uint32_t))                           \
  X(next, "cuptiActivityGetNextRecord", (std::uint8_t*, std::size_t, void**))

struct Functions {
  explicit Functions(const std::string& path) {
    void* library = cupti::open_library(path);
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSAY_RESOLVE(name, symbol, parameters)                                         \
  name = reinterpret_cast<int(*) parameters>(::dlsym(library, symbol));                 \
  if ((name) == nullptr) {                                                              \
    throw cupti::Missing{std::string("this CUPTI has no activity records: ") + symbol}; \
  }
    ASSAY_ACTIVITY_FUNCTIONS(ASSAY_RESOLVE)
#undef ASSAY_RESOLVE
  }
#define ASSAY_DECLARE(name, symbol, parameters) int(*name) parameters = nullptr;
  ASSAY_ACTIVITY_FUNCTIONS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
  // NOLINTEND(bugprone-macro-parentheses)
};

// Whose the buffers are that CUPTI asks for: its callbacks come without a word of ours, perhaps on
// a thread of its own.
struct Recording {
  const Functions& functions;
  const std::string& kernel;
  std::vector<KernelRecord>& records;
};
std::mutex recording_mutex;
Recording* recording = nullptr;

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *most_records = 0;  // as many as fit
}

void take_buffer(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                 std::size_t /*bytes*/, std::size_t filled) {
  {
    const std::lock_guard lock(recording_mutex);
    void* record = nullptr;
    while (recording != nullptr && filled > 0 &&
           recording->functions.next(buffer, filled, &record) == 0) {
      if (auto read = read_record(record, recording->kernel)) {
        recording->records.push_back(*read);
      }
    }
  }
  std::free(buffer);
}

// Of one process at a time: the records go to this recording while it lives.
class Session {
 public:
  explicit Session(Recording to) : to_(to) {
    {
      const std::lock_guard lock(recording_mutex);
      recording = &to_;
    }
    const auto& functions = to_.functions;
    check(functions.callbacks(give_buffer, take_buffer), "taking activity records");
    for (const int kind : {kDriverKind, kConcurrentKernel}) {
      check(functions.enable(kind), "recording kernels");
    }
  }
  ~Session() { end(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What is on its way is asked for while it is still collected.
  void end() {
    to_.functions.flush(kForced);
    for (const int kind : {kConcurrentKernel, kDriverKind}) to_.functions.disable(kind);
    to_.functions.flush(kForced);
    const std::lock_guard lock(recording_mutex);
    recording = nullptr;
  }

 private:
  void check(int result, const char* doing) {
    if (result == 0) return;
    end();
    throw cupti::Missing{std::string(doing) + ": CUPTI error " + std::to_string(result)};
  }
  Recording to_;
};

const char* cache_name(unsigned preference) {
  constexpr std::array<const char*, 4> kNames{"none", "shared", "l1", "equal"};
  return preference < kNames.size() ? kNames[preference] : "none";
}

}  // namespace

bool knows_records(std::uint32_t cupti_version) {
  return cupti_version >= kFirstVersion && cupti_version < kBehindLast;
}

std::optional<KernelRecord> read_record(const void* record, const std::string& kernel) {
  Record read{};
  std::memcpy(&read.kind, record, sizeof read.kind);
  if (read.kind != kKernel && read.kind != kConcurrentKernel) return std::nullopt;
  std::memcpy(&read, record, sizeof read);
  if (read.name == nullptr || read.name != std::string_view(kernel)) return std::nullopt;
  // Zeros stand for times that were not recorded.
  if (read.start == 0 || read.end < read.start) return std::nullopt;
  const auto bytes = [](std::int32_t value) {
    return static_cast<std::uint64_t>(value > 0 ? value : 0);
  };
  return KernelRecord{.start_ns = read.start,
                      .end_ns = read.end,
                      .registers_per_thread = read.registers,
                      .static_shared_bytes = bytes(read.static_shared),
                      .dynamic_shared_bytes = bytes(read.dynamic_shared),
                      .local_bytes_per_thread = read.local_per_thread,
                      .shared_carveout_bytes = read.shared_executed,
                      .cache_preference = cache_name(read.cache >> 4U)};
}

int record_kernel(const std::string& library, const std::string& kernel,
                  const std::function<int()>& launches, KernelActivity& activity) {
  int result = 0;
  try {
    const Functions functions(library);
    std::uint32_t version = 0;
    if (functions.version(&version) != 0 || !knows_records(version)) {
      throw cupti::Missing{"the activity records of CUPTI " + std::to_string(version) +
                           " are not known"};
    }
    Session session({functions, kernel, activity.records});
    result = launches();
    session.end();
    if (activity.records.empty()) throw cupti::Missing{"CUPTI recorded no launch of the kernel"};
  } catch (const cupti::Missing& missing) {
    activity.missing = missing.what;
  }
  return result;
}

}  // namespace assay::runner
