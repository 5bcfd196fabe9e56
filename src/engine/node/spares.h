// Runners made ahead of the jobs that will use them, since what makes one ready takes longer than
// its work: a compiler's first compile in a process, a context on a device. Each has read no user
// byte and serves once. Nothing is made before somebody wants it, and what nobody took for a while
// is let go; a few may be left for longer, for whoever comes first after idling.
//
// A maker may return what is still getting ready: the oldest is ready first. The oldest may be a
// reserve, which opens after a failure only: whoever comes next then does not wait for what others
// have used up.
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

// What is left of those that nobody took, and until how long after the last was taken.
struct SparesLeft {
  std::size_t kept = 0;
  std::chrono::seconds until{};
};

class Spares {
 public:
  using Process = std::unique_ptr<RunnerProcess>;
  // Null where none can be made now: then the next is made when it is wanted again.
  using Make = std::function<Process(const std::stop_token& stop)>;

  // `kept`: how many there are, as long as one is taken every `idle`; `reserve`: how many more.
  Spares(Make make, std::size_t kept, std::chrono::seconds idle, std::size_t reserve = 0,
         SparesLeft rest = {});
  Spares(const Spares&) = delete;
  Spares& operator=(const Spares&) = delete;

  // The oldest that is no reserve; null if there is none.
  [[nodiscard]] Process take();
  // Have them ready from now on.
  void want();
  // Something failed: as many takes as the reserve has get the oldest of all.
  void open_reserve();
  // Ends all that nobody took, and what is being made; none is made until some are wanted again.
  void let_go();
  // What was taken and then not used after all.
  void put_back(Process untouched);
  // What was used, ended in the background, once none is to be made or a few have gathered:
  // clearing a context away takes the driver a tenth of a second, in which it makes no other.
  void retire(std::vector<Process> used);

 private:
  // Until stopped: makes what is wanted, ends what was used, lets all go after idling.
  void keep_house(const std::stop_token& stop);
  // Each with the lock, which they release while they work.
  void make_one(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);
  void end_one(std::unique_lock<std::mutex>& lock);
  void retire_ready();
  void keep_a_rest();
  [[nodiscard]] bool is_short() const { return ready_.size() < wanted_; }

  const Make make_;
  const std::size_t kept_;
  const std::size_t reserve_;
  const std::chrono::seconds idle_;
  const SparesLeft rest_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::vector<Process> ready_{};
  std::vector<Process> retired_{};
  std::size_t wanted_ = 0;
  std::size_t open_takes_ = 0;
  unsigned let_goes_ = 0;  // so far
  bool resting_ = false;   // what is ready is the rest: no reserve is held back of it
  std::chrono::steady_clock::time_point last_use_{};
  std::jthread housekeeper_{};  // last: joined before the rest is destroyed
};

}  // namespace assay::node
