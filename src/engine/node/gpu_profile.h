// The profiled stage on a GPU: hardware counters in a runner of its own, so that what was timed was
// not disturbed; then what limits the kernel. Counters that cannot be read are said and cost
// nothing else: the launch's own facts, what CUPTI records without counters and what the contract's
// bytes say are told all the same.
//
// Used by the job's thread, after it was timed.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/node/compilation.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/kernel_session.h"
#include "engine/node/lifted_launch.h"
#include "engine/node/limiter.h"
#include "engine/node/referee_session.h"

namespace assay::node {

// What the timed stage says of a kernel; `views` or `reference_views`, and the samples beside them.
// The slope of a graph is the kernel alone; a cold run has the launch's overhead in it.
[[nodiscard]] TimingFacts timing_facts(const nlohmann::json& timed, const char* views,
                                       const char* samples);

// Puts what was measured of the kernel under test among the stage's `device_metrics`, under the
// manual's name; a warning says why there are no counters.
void tell_of_kernel(nlohmann::json measured, bool has_reference, nlohmann::json& metrics,
                    nlohmann::json& warnings);

class GpuProfile {
 public:
  using Fill = std::function<std::variant<LentArena, Ended>()>;  // inputs of one run

  // Borrows all. `timeout`: the job's, for each kernel that is counted.
  GpuProfile(GpuPool& pool, RefereeSession& referee, std::string cupti,
             std::chrono::nanoseconds timeout, std::stop_token stop)
      : pool_(pool),
        referee_(referee),
        cupti_(std::move(cupti)),
        timeout_(timeout),
        stop_(std::move(stop)) {}

  // {sections…, limiter, basis, confidence, facts, suggestion, passes?, runner_ms?, setup_ms?,
  // counting_ms?, sections?: {name: {passes, counting_ms}}, why_null?, unavailable?, activity?,
  // refused?, roof, floor}. The contract is the one that the referee holds.
  [[nodiscard]] nlohmann::json measure(const KernelSource& source, const Program& program,
                                       const contract::Contract& judged,
                                       const std::vector<std::string>& sections,
                                       const TimingFacts& timing);
  // Likewise of what was lifted: of its launch that takes the most time, named in `launch` beside
  // how many there are (lifted_launch.h); the floor is of them all.
  [[nodiscard]] nlohmann::json measure(const LiftedSequence& sequence, const Fill& fill,
                                       const contract::Contract& judged,
                                       const std::vector<std::string>& sections,
                                       const TimingFacts& timing);

  // The runners that served; they serve nobody again.
  [[nodiscard]] std::vector<GpuPool::Process> release() { return std::move(used_); }
  [[nodiscard]] bool has_counted() const { return has_counted_; }
  // A process that counted could not be killed: the device may be at work for it still.
  [[nodiscard]] bool has_left_running() const { return has_left_running_; }

 private:
  [[nodiscard]] CounterOrder order(const std::vector<std::string>& sections) const;
  // What a process that has loaded it answers; on failure `missing` says why.
  using Ask = std::function<std::variant<Counted, Ended>(KernelSession&)>;
  [[nodiscard]] Counted count(const Ask& load_and_ask);
  std::variant<Counted, Ended> ask(KernelSession& session, const Fill& fill,
                                   const CounterOrder& order);
  [[nodiscard]] Counted count(const KernelSource& source, const Program& program,
                              const contract::Contract& judged, const CounterOrder& order,
                              std::string& entry);
  [[nodiscard]] Counted count(const LiftedSequence& sequence, const Fill& fill,
                              const CounterOrder& order);
  struct Known {
    const contract::Contract& judged;
    const std::vector<std::string>& sections;
    const LaunchFacts& launch;
    const TimingFacts& timing;         // of what was counted
    std::optional<double> whole_ns{};  // of all that the contract's bytes are moved by
  };
  [[nodiscard]] nlohmann::json tell(const Counted& counted, const Known& known) const;

  GpuPool& pool_;
  RefereeSession& referee_;
  std::string cupti_;
  std::chrono::nanoseconds timeout_;
  std::stop_token stop_;
  std::vector<GpuPool::Process> used_{};
  bool has_counted_ = false;
  bool has_left_running_ = false;
  double runner_ms_ = 0;  // until the last process was ready and had the kernel
};

}  // namespace assay::node
