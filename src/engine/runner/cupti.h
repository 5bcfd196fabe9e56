// Hardware counters of one kernel, by CUPTI's range profiler: chosen metrics, as many passes as the
// hardware needs, each one launch that the caller prepares. Found at run time; what cannot be
// counted says why and is no error.
//
// In a profiling runner, which times nothing; one thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/runner/cuda_driver.h"
#include "engine/runner/metric_plan.h"

namespace assay::runner {

struct CounterRequest {
  std::string library{};               // libcupti.so.N
  std::vector<std::string> metrics{};  // as Nsight Compute names them
  // Of these it is told what each would take by itself.
  std::map<std::string, std::vector<std::string>> groups{};
  std::chrono::nanoseconds limit{};  // of all its passes; what runs longer has not ended
};

struct CounterReadings {
  std::vector<std::pair<std::string, double>> values{};
  std::vector<std::string> refused{};  // metrics that this device or library does not have
  std::size_t passes = 0;
  std::string missing{};  // why there are no values at all

  void add(const CounterReadings& more);
};

// What one pass runs; each returns the driver's result and waits for its end.
struct CounterPass {
  std::function<int()> prepare{};
  // Once the pass has begun, which disturbs the device: each launches one kernel, which is not
  // counted. At most cupti::kMostRanges - 1: of more, nothing is counted.
  std::vector<std::function<int()>> settle{};
  std::function<int()> launch{};  // of one kernel, which is
};

class CounterSession {
 public:
  // Never throws: readings() says what is wrong.
  CounterSession(const CounterRequest& request, cuda::Handle context);
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  // Runs that once per pass. A result other than success ends the session and is returned.
  [[nodiscard]] int measure(const CounterPass& pass);
  [[nodiscard]] const CounterReadings& readings() const { return readings_; }

 private:
  void begin(const CounterRequest& request, cuda::Handle context);
  void enable(cuda::Handle context);
  void evaluate(std::size_t range);

  std::unique_ptr<cupti::Library> library_{};
  std::unique_ptr<MetricPlan> plan_{};
  void* profiler_ = nullptr;
  std::vector<std::uint8_t> data_{};
  CounterReadings readings_{};
};

}  // namespace assay::runner
