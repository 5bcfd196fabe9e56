// What a server has counted since it started: compilations, validations, timings, leases, ends. Fed
// by Jobs with every stage and every end, so that no number here is an estimate; read by
// server_stats. Jobs of other servers on the same state directory are not among them.
//
// Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "engine/job/record.h"

namespace assay::tools {

// A number of durations: how many, how long together, the shortest, the longest.
struct Durations {
  std::uint64_t count = 0;
  double total_s = 0;
  double min_s = 0;
  double max_s = 0;

  void add(double seconds);
};

struct GpuUse {
  std::uint64_t leases = 0;
  double held_s = 0;
};

struct JobCounts {
  double uptime_s = 0;
  Durations compilations{};  // one for each compiled stage, passed or not
  std::uint64_t compilations_failed = 0;
  std::uint64_t cache_hits = 0;
  Durations timings{};  // timed stages
  std::uint64_t timings_failed = 0;
  std::uint64_t validations_passed = 0;
  std::uint64_t validations_failed = 0;
  std::uint64_t captures_tried = 0;  // of a launch into a CUDA graph
  std::uint64_t captures_made = 0;
  Durations lease_waits{};  // one for each GPU taken
  std::uint64_t leases_returned = 0;
  std::map<std::string, GpuUse> gpus{};
  std::uint64_t submitted = 0;
  std::uint64_t completed = 0;  // ended with a verdict of their own, whichever
  std::uint64_t failed = 0;     // ended by a fault of the server or the engine
  std::map<job::Verdict, std::uint64_t> by_verdict{};
  Durations end_to_end{};
  std::uint64_t ended_lately = 0;  // within kLatelyS
  std::uint64_t active = 0;
};

inline constexpr double kLatelyS = 300;

class JobCounters {
 public:
  using Clock = std::chrono::steady_clock;
  // `now` is replaced by tests.
  explicit JobCounters(std::function<Clock::time_point()> now = Clock::now);

  void submitted(const std::string& job_id);
  void told(const std::string& job_id, const job::StageRecord& stage);
  // `is_fault`: ours, not the job's.
  void ended(const std::string& job_id, job::Verdict verdict, bool is_fault);

  [[nodiscard]] JobCounts counts() const;

 private:
  struct Lease {
    std::string gpu{};
    Clock::time_point since{};
  };
  struct Active {
    Clock::time_point since{};
    std::optional<Lease> lease{};
  };

  void took_gpu(Active& job, const nlohmann::json& prepared);
  void gave_gpu_back(Active& job);
  void forget_old_ends() const;

  const std::function<Clock::time_point()> now_;
  const Clock::time_point start_;
  mutable std::mutex mutex_{};
  JobCounts counts_{};
  std::map<std::string, Active> active_{};
  mutable std::deque<Clock::time_point> ends_{};
};

}  // namespace assay::tools
