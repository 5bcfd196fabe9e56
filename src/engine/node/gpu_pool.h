// Processes of one GPU, kept ready: a context takes a fifth of a second to make, and the driver
// makes one at a time, whoever asks. Fresh ones are Spares; here are those that have served.
//
// A kernel runner serves one job. One that ran nothing but device code, and nothing speaks against
// what it did, may serve the same client again once it has been emptied: what was judged there is
// followed by what is to be judged, a reference by a reference, so that no process is ever on both
// sides of a comparison. It never serves another client.
// Referees run no user code and serve one job after the other. What nobody took for a while is let
// go, since each process holds half a gigabyte of the device's memory: all but a referee and a
// runner at first, so that the first job after some minutes finds them ready, then these.
//
// Any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/node/gpu_lease.h"
#include "engine/node/gpus.h"
#include "engine/node/referee_kernels.h"
#include "engine/node/runners.h"
#include "engine/node/spares.h"

namespace assay::node {

class GpuPool {
 public:
  using Process = Spares::Process;
  enum class Side { judged, reference };
  struct Runner {
    Process process{};
    bool reused = false;
  };
  struct Referee {
    Process process{};
    std::shared_ptr<RefereeKernels> kernels{};  // null: it has said that it is prepared
  };

  static constexpr std::chrono::seconds kKeptWarm{15 * 60};
  // How long what nobody takes is kept ready, but for a rest.
  [[nodiscard]] static std::chrono::seconds idle(std::chrono::seconds keep_warm) {
    return std::min(std::chrono::seconds{120}, keep_warm);
  }

  // Borrows `runners`. `keep_warm`: how long after the last job anything is kept ready.
  GpuPool(const Runners& runners, Gpu gpu, std::chrono::seconds keep_warm = kKeptWarm);
  GpuPool(const GpuPool&) = delete;
  GpuPool& operator=(const GpuPool&) = delete;

  [[nodiscard]] const Gpu& gpu() const { return gpu_; }

  // A runner whose context exists or is being made; one that served `client` on this side before if
  // there is one. "" for a fresh one.
  // Throws std::system_error, as take_referee() does, when no process can be made.
  [[nodiscard]] Runner take(const std::string& client, Side side);
  // A fresh one that will count; one that has CUPTI ready, or is at it, if
  // will_count() was said or somebody counted lately.
  [[nodiscard]] Process take_counting();
  // A job will count when it has been timed: CUPTI reads the chip's metrics meanwhile.
  void will_count() { counting_.want(); }
  // Whether one is kept, or about to be, that served `client` before.
  [[nodiscard]] bool knows(const std::string& client) const;
  // The device, for one job alone; see gpu_lease.h.
  [[nodiscard]] std::optional<GpuLease> lease(const std::string& client,
                                              const std::stop_token& stop,
                                              std::chrono::nanoseconds most_held) {
    return GpuLease::take(gpu_.uuid, turns_, client, stop, most_held);
  }
  [[nodiscard]] Referee take_referee();

  // A job has failed, and what it used is lost: replacements are begun while its end is still being
  // told, and who comes next may have the reserve.
  void failed();
  // The device is in doubt: nothing that was made ready there is to be used, nor to be kept when
  // who has it gives it back.
  void discard();
  // How often that was. Who takes something asks before, and says it when he gives that back.
  [[nodiscard]] unsigned discards() const;
  // One that belongs to no pool.
  [[nodiscard]] Process start_apart() const { return start(RunnerRole::gpu_kernel); }

  struct Clean {
    Process process{};
    Side side = Side::judged;
  };
  // What a job has used.
  struct Used {
    unsigned discards = 0;       // before the first of them was taken
    Referee referee{};           // also one that has ended
    std::vector<Clean> clean{};  // runners that may serve `client` again
    std::string client{};
    std::vector<Process> ended{};      // runners that serve nobody again
    bool hung = false;                 // a kernel may run there still
    bool counted = false;              // one of them read hardware counters
    std::vector<Process> untouched{};  // fresh ones that were asked nothing: as good as new
  };
  // Empties and ends them in the background, and starts spares up to the number kept.
  void give_back(Used used);

 private:
  struct Kept {
    Process process{};
    std::string client{};
    Side side = Side::judged;
  };

  [[nodiscard]] Process start(RunnerRole role) const;
  [[nodiscard]] Process start_counting() const;
  // What was just given back is better than a fresh one, if it comes soon. Called with the lock.
  void wait_for_returned(std::unique_lock<std::mutex>& lock);
  void keep(Used used, bool referee_emptied);
  // Nothing of it serves again.
  static void give_up(Used& used);
  // Until stopped: empties what came back, lets it go after idling.
  void keep_house(const std::stop_token& stop);
  // With the lock, which it releases while it works.
  void clean_one(std::unique_lock<std::mutex>& lock);
  void let_go(std::size_t referees_left);

  const Runners& runners_;
  const Gpu gpu_;
  const std::size_t most_kept_;
  const std::chrono::seconds keep_warm_;
  const std::chrono::seconds idle_;  // until what no job used lately is let go, but for a rest
  const std::shared_ptr<RefereeKernels> referee_kernels_;
  JobQueue turns_{1, SIZE_MAX};  // on the device
  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::vector<Referee> referees_{};
  std::vector<Kept> kept_{};  // the latest last
  std::vector<Used> returned_{};
  unsigned discards_ = 0;  // so far: what was in use or being emptied meanwhile is given up, too
  bool cleaning_ = false;
  std::string cleaning_for_{};  // whose runner is being emptied; "" for nobody's
  std::chrono::steady_clock::time_point last_use_{};
  Spares spares_;
  Spares counting_;
  std::jthread housekeeper_{};  // last: joined before the rest is destroyed
};

}  // namespace assay::node
