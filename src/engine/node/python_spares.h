// Python runners of one GPU made ahead: a fork of the zygote whose context exists and that has read
// no user byte. A context takes a third of a second, and as long again to be cleared away; neither
// is a job's to wait for. Each serves one source and ends. What nobody took for a while is let go,
// since each holds half a gigabyte of the device's memory.
//
// Any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "engine/node/gpus.h"
#include "engine/node/python_zygote.h"
#include "engine/node/runners.h"

namespace assay::node {

// A confined fork of the zygote, on a GPU or on none (null).
[[nodiscard]] std::variant<std::unique_ptr<RunnerProcess>, NoPython> fork_python(
    const Runners& runners, PythonZygote& zygote, const Gpu* gpu, const std::stop_token& stop);

class PythonSpares {
 public:
  using Process = std::unique_ptr<RunnerProcess>;

  // Borrows `runners` and `zygote`.
  PythonSpares(const Runners& runners, PythonZygote& zygote, Gpu gpu);
  PythonSpares(const PythonSpares&) = delete;
  PythonSpares& operator=(const PythonSpares&) = delete;

  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  // One that is ready, or else a fresh one.
  [[nodiscard]] std::variant<Process, NoPython> take(const std::stop_token& stop);
  // What a job has used: ended in the background, and the next are made ready.
  void give_back(std::vector<Process> used);

 private:
  [[nodiscard]] Process make(const std::stop_token& stop);
  // Until stopped: ends what was used, makes spares, lets them go after idling.
  void keep_house(const std::stop_token& stop);

  const Runners& runners_;
  PythonZygote& zygote_;
  const Gpu gpu_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::vector<Process> spares_{};
  std::vector<Process> retired_{};
  std::size_t wanted_ = 0;
  std::chrono::steady_clock::time_point last_use_{};
  std::jthread housekeeper_{};  // last: joined before the rest is destroyed
};

}  // namespace assay::node
