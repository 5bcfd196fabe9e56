// Runners made ahead of the jobs that will use them, since what makes one ready takes longer than
// its work: a compiler's first compile in a process, a context on a device. Each has read no user
// byte and serves once. Nothing is made before somebody wants it, and what nobody took for a while
// is let go.
//
// Any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/node/runner_process.h"

namespace assay::node {

class Spares {
 public:
  using Process = std::unique_ptr<RunnerProcess>;
  // Null where none can be made now: then the next is made when it is wanted again.
  using Make = std::function<Process(const std::stop_token& stop)>;

  // `kept`: how many are ready, as long as one is taken every `idle`.
  Spares(Make make, std::size_t kept, std::chrono::seconds idle);
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;

  // Null if none is ready.
  [[nodiscard]] Process take();
  // Have them ready from now on.
  void want();
  // What was used, ended in the background: clearing a context away takes the driver a tenth of a
  // second.
  void retire(std::vector<Process> used);

 private:
  // Until stopped: ends what was used, makes what is wanted, lets it go after idling.
  void keep_house(const std::stop_token& stop);

  const Make make_;
  const std::size_t kept_;
  const std::chrono::seconds idle_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::vector<Process> ready_{};
  std::vector<Process> retired_{};
  std::size_t wanted_ = 0;
  std::chrono::steady_clock::time_point last_use_{};
  std::jthread housekeeper_{};  // last: joined before the rest is destroyed
};

}  // namespace assay::node
