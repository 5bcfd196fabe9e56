// How launches of one kernel were carried out, as CUPTI's activity records tell: from when to when,
// with which registers and shared memory. It takes no right to read hardware counters.
//
// One at a time in a process, since CUPTI hands buffers over without saying for whom; in a
// profiling runner, which times nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::runner {

struct KernelRecord {
  std::uint64_t start_ns = 0;  // of the device's own clock
  std::uint64_t end_ns = 0;
  unsigned registers_per_thread = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t dynamic_shared_bytes = 0;
  std::uint64_t local_bytes_per_thread = 0;
  std::uint64_t shared_carveout_bytes = 0;  // what the multiprocessor's cache gave up for it
  const char* cache_preference = "";        // none, shared, l1, equal: as it was carried out
};

// Launches of one kernel, in their order.
struct KernelActivity {
  std::vector<KernelRecord> records{};
  std::string missing{};  // why there are none
};

// CUPTI's versions whose records begin alike: those of CUDA 11 to 13.
[[nodiscard]] bool knows_records(std::uint32_t cupti_version);

// One activity record; nothing if it is of no kernel, or of another than `kernel`.
[[nodiscard]] std::optional<KernelRecord> read_record(const void* record,
                                                      const std::string& kernel);

// Runs `launches`, which launches the kernel and waits for its ends, and answers what it does.
[[nodiscard]] int record_kernel(const std::string& library, const std::string& kernel,
                                const std::function<int()>& launches, KernelActivity& activity);

}  // namespace assay::runner
