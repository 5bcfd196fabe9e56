// Kernel runners of one GPU, kept ahead: a context takes a fifth of a second to make, and the
// driver makes one at a time, whoever asks. A runner serves one job and is never put back.
//
// Any thread. Spares that nobody took for a while are let go, since each holds half a gigabyte of
// the device's memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/node/gpus.h"
#include "engine/node/runners.h"

namespace assay::node {

class GpuPool {
 public:
  // Borrows `runners`.
  GpuPool(const Runners& runners, Gpu gpu);
  GpuPool(const GpuPool&) = delete;
  GpuPool& operator=(const GpuPool&) = delete;

  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  // A runner whose context exists or is being made. Throws std::system_error when no process can
  // be made.
  [[nodiscard]] std::unique_ptr<RunnerProcess> take();
  // Takes what a job has used, to end it in the background (the driver takes a tenth of a second to
  // clear a context away), and starts spares up to the number kept.
  void retire(std::vector<std::unique_ptr<RunnerProcess>> used);

 private:
  [[nodiscard]] std::unique_ptr<RunnerProcess> start() const;
  [[nodiscard]] std::unique_ptr<RunnerProcess> try_start();
  // Until stopped: ends retired runners, starts spares, lets them go after idling.
  void keep_house(const std::stop_token& stop);

  const Runners& runners_;
  const Gpu gpu_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::vector<std::unique_ptr<RunnerProcess>> spares_{};
  std::vector<std::unique_ptr<RunnerProcess>> retired_{};
  std::size_t wanted_ = 0;  // spares
  std::chrono::steady_clock::time_point last_use_{};
  std::jthread housekeeper_{};  // last: joined before the rest is destroyed
};

}  // namespace assay::node
