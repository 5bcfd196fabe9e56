// The profiled stage on a GPU: hardware counters in a runner of its own, so that what was timed was
// not disturbed; then what limits the kernel. Counters that cannot be read are said and cost
// nothing else: the launch's own facts are told all the same.
//
// Used by the job's thread, after it was timed.
#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/node/compilation.h"
#include "engine/node/gpu_pool.h"
#include "engine/node/limiter.h"
#include "engine/node/referee_session.h"

namespace assay::node {

class GpuProfile {
 public:
  // Borrows all.
  GpuProfile(GpuPool& pool, RefereeSession& referee, std::string cupti, std::stop_token stop)
      : pool_(pool), referee_(referee), cupti_(std::move(cupti)), stop_(std::move(stop)) {}

  // {sections…, limiter, facts, suggestion, passes, setup_ms, counting_ms, unavailable?,
  // refused?, roof, floor}. The contract is the one that the referee holds.
  [[nodiscard]] nlohmann::json measure(const KernelSource& source, const Program& program,
                                       const contract::Contract& judged,
                                       const std::vector<std::string>& sections,
                                       const TimingFacts& timing);

  // The runners that served; they serve nobody again.
  [[nodiscard]] std::vector<GpuPool::Process> release() { return std::move(used_); }

 private:
  // What was counted; on failure `missing` says why.
  [[nodiscard]] nlohmann::json count(const KernelSource& source, const Program& program,
                                     const contract::Contract& judged,
                                     const std::vector<std::string>& counters,
                                     CounterValues& values, std::string& entry);
  [[nodiscard]] LaunchFacts facts(const KernelSource& source, const Program& program,
                                  const std::string& entry) const;

  GpuPool& pool_;
  RefereeSession& referee_;
  std::string cupti_;
  std::stop_token stop_;
  std::vector<GpuPool::Process> used_{};
};

}  // namespace assay::node
