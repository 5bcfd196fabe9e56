// Hardware counters of one kernel, by CUPTI's range profiler: chosen metrics, as many passes as the
// hardware needs, each one launch that the caller prepares. Found at run time; what cannot be
// counted says why and is no error.
//
// The structs are declared in cupti.cc, so that no CUDA header is needed (CUPTI 12.6 to 13, range
// profiling and profiler host API). One per profiling runner, which times nothing; one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/runner/cuda_driver.h"

namespace assay::runner {

struct CounterRequest {
  std::string library{};               // libcupti.so.N
  std::vector<std::string> metrics{};  // as Nsight Compute names them
};

struct CounterReadings {
  std::vector<std::pair<std::string, double>> values{};
  std::vector<std::string> refused{};  // metrics that this device or library does not have
  std::size_t passes = 0;
  std::string missing{};  // why there are no values at all

  void add(const CounterReadings& more);
};

// How metrics must be divided: those that count instructions by kind ("__sass_") share one counter,
// and of several in a session each shows the first's value (seen with CUPTI 13.0, whatever the
// replay).
[[nodiscard]] std::vector<std::vector<std::string>> sessions_of(
    const std::vector<std::string>& metrics);

class CounterSession {
 public:
  // Never throws: readings() says what is wrong.
  CounterSession(const CounterRequest& request, cuda::Handle context);
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  // Runs `prepare` and then, counted, `launch`, once per pass; both return the driver's result and
  // wait for their end. A result other than success ends the session and is returned.
  [[nodiscard]] int measure(const std::function<int()>& prepare,
                            const std::function<int()>& launch);
  [[nodiscard]] const CounterReadings& readings() const { return readings_; }

 private:
  class Library;
  void begin(const CounterRequest& request, cuda::Handle context);
  void evaluate();

  std::unique_ptr<Library> library_;
  CounterReadings readings_{};
};

}  // namespace assay::runner
