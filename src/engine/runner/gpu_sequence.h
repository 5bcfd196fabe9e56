// A sequence (sequence.h) on a GPU: its programs loaded, its launches ready to be queued on
// whatever stretch of memory.
//
// Owned by the GPU device of one runner; one thread.
#pragma once

#include <optional>
#include <vector>

#include "engine/runner/gpu_timer.h"
#include "engine/runner/sequence.h"

namespace assay::runner {

class GpuSequence final : public GpuWork {
 public:
  // Borrows the context; nothing is loaded yet.
  GpuSequence(GpuContext& context, Sequence sequence);
  ~GpuSequence() override;
  GpuSequence(const GpuSequence&) = delete;
  GpuSequence& operator=(const GpuSequence&) = delete;

  // Loads the programs. What the driver refuses it refuses with the reason; else "".
  [[nodiscard]] std::string load();
  // Their variables, if they have any, are as they were when they were loaded. Throws
  // cuda::DriverError: it was loaded before.
  void reload();

  [[nodiscard]] const Sequence& sequence() const { return sequence_; }
  // One step of it alone, and the function that it launches: null if it launches none.
  [[nodiscard]] int queue_step(std::size_t step, cuda::Address memory) const;
  [[nodiscard]] cuda::Handle function_of(std::size_t step) const { return functions_.at(step); }
  [[nodiscard]] int queue(cuda::Address memory) const override;
  [[nodiscard]] int clear_scratch(cuda::Address memory) const override;
  [[nodiscard]] std::string identity() const override { return "sequence"; }

 private:
  void unload() noexcept;
  // Each of these answers the driver's result, and names in `failure` what it is of.
  [[nodiscard]] int load_programs(std::string& failure);
  [[nodiscard]] int find_function(const SequenceStep& step, std::string& failure);
  GpuContext& context_;
  Sequence sequence_;
  std::vector<cuda::Handle> modules_{};
  std::vector<cuda::Handle> functions_{};  // of each step; null of those that launch nothing
};

}  // namespace assay::runner
