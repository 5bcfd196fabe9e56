// A sequence on memory of its own, step by step: so that one of its launches can be repeated alone,
// each time after those before it and with cold caches, and each be timed by itself.
//
// For a runner that times nothing else; its one thread.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "engine/runner/cold_caches.h"
#include "engine/runner/device.h"
#include "engine/runner/gpu_sequence.h"

namespace assay::runner {

class SteppedSequence {
 public:
  // Borrows all; the sequence is loaded, and the arena stays as it is. Nothing of it runs beyond
  // `limit`. Throws cuda::DriverError.
  SteppedSequence(GpuContext& context, const GpuSequence& work, Arena& arena,
                  std::chrono::steady_clock::duration limit);
  ~SteppedSequence();
  SteppedSequence(const SteppedSequence&) = delete;
  SteppedSequence& operator=(const SteppedSequence&) = delete;

  // The steps that launch something.
  [[nodiscard]] const std::vector<std::size_t>& launches() const { return launches_; }

  // The memory as it is before `step`, with cold caches.
  [[nodiscard]] int prepare(std::size_t step);
  [[nodiscard]] int run(std::size_t step);
  // See ColdCaches.
  [[nodiscard]] std::vector<std::function<int()>> settling() {
    return caches_.settling(memory_.address(), memory_.bytes(), until_);
  }
  // Of each launch the median of some rounds, each after those before it; nothing of a sequence
  // that has one, since there is nothing to choose from.
  [[nodiscard]] int time_launches(std::vector<double>& launches_ns);

 private:
  [[nodiscard]] int begin();
  [[nodiscard]] int time_round(std::vector<double>& launches_ns);
  [[nodiscard]] int time_step(std::size_t step, std::vector<double>& launches_ns);

  GpuContext& context_;
  const GpuSequence& work_;
  Arena& arena_;
  GpuMemory memory_;
  ColdCaches caches_;
  cuda::Handle start_ = nullptr;
  cuda::Handle stop_ = nullptr;
  std::vector<std::size_t> launches_{};
  std::chrono::steady_clock::time_point until_;
};

// Pure: of each launch the median over the rounds, and which one takes the most; the first of
// equals.
[[nodiscard]] std::vector<double> medians_of(const std::vector<std::vector<double>>& rounds);
[[nodiscard]] std::size_t heaviest(const std::vector<double>& launches_ns);

}  // namespace assay::runner
