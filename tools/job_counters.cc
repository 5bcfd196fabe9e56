#include "tools/job_counters.h"

#include <algorithm>
#include <utility>

namespace assay::tools {
namespace {

using job::StageStatus;

double seconds(JobCounters::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void Durations::add(double seconds) {
  min_s = count == 0 ? seconds : std::min(min_s, seconds);
  max_s = count == 0 ? seconds : std::max(max_s, seconds);
  total_s += seconds;
  ++count;
}

JobCounters::JobCounters(std::function<Clock::time_point()> now)
    : now_(std::move(now)), start_(now_()) {}

void JobCounters::submitted(const std::string& job_id) {
  const std::lock_guard lock(mutex_);
  ++counts_.submitted;
  active_[job_id].since = now_();
}

void JobCounters::told(const std::string& job_id, const job::StageRecord& stage) {
  const std::lock_guard lock(mutex_);
  const bool passed = stage.status == StageStatus::passed;
  if (stage.status == StageStatus::skipped) return;
  const double elapsed_s = stage.elapsed_ms / 1e3;
  const auto found = active_.find(job_id);
  if (found == active_.end()) return;
  Active& job = found->second;
  if (stage.name == "compiled") {
    counts_.compilations.add(elapsed_s);
    if (!passed) ++counts_.compilations_failed;
    if (stage.body.value("cached", false)) ++counts_.cache_hits;
  } else if (stage.name == "prepared") {
    took_gpu(job, stage.body);
  } else if (stage.name == "validated") {
    ++(passed ? counts_.validations_passed : counts_.validations_failed);
  } else if (stage.name == "timed") {
    counts_.timings.add(elapsed_s);
    if (!passed) ++counts_.timings_failed;
    for (const char* side : {"views", "reference_views"}) {
      const auto views = stage.body.find(side);
      if (views == stage.body.end() || !views->contains("graph")) continue;
      ++counts_.captures_tried;
      if (views->at("graph").contains("median_ns")) ++counts_.captures_made;
    }
    gave_gpu_back(job);
  }
}

// The stage that takes a GPU says how long it waited for it.
void JobCounters::took_gpu(Active& job, const nlohmann::json& prepared) {
  const auto waited = prepared.find("lease_wait_ms");
  if (waited == prepared.end() || !waited->is_number()) return;
  counts_.lease_waits.add(waited->get<double>() / 1e3);
  job.lease = Lease{.gpu = prepared.value("device", "gpu"), .since = now_()};
  ++counts_.gpus[job.lease->gpu].leases;
}

void JobCounters::gave_gpu_back(Active& job) {
  if (!job.lease) return;
  counts_.gpus[job.lease->gpu].held_s += seconds(now_() - job.lease->since);
  ++counts_.leases_returned;
  job.lease.reset();
}

void JobCounters::ended(const std::string& job_id, job::Verdict verdict, bool is_fault) {
  const std::lock_guard lock(mutex_);
  const auto found = active_.find(job_id);
  if (found == active_.end()) return;
  gave_gpu_back(found->second);
  const auto now = now_();
  counts_.end_to_end.add(seconds(now - found->second.since));
  active_.erase(found);
  ++(is_fault ? counts_.failed : counts_.completed);
  ++counts_.by_verdict[verdict];
  ends_.push_back(now);
  forget_old_ends();
}

void JobCounters::forget_old_ends() const {
  const auto now = now_();
  while (!ends_.empty() && seconds(now - ends_.front()) > kLatelyS) ends_.pop_front();
}

JobCounts JobCounters::counts() const {
  const std::lock_guard lock(mutex_);
  forget_old_ends();
  JobCounts counts = counts_;
  const auto now = now_();
  counts.uptime_s = seconds(now - start_);
  counts.ended_lately = ends_.size();
  counts.active = active_.size();
  // What is held at this moment has been used as well.
  for (const auto& [job_id, job] : active_)
    if (job.lease) counts.gpus[job.lease->gpu].held_s += seconds(now - job.lease->since);
  return counts;
}

}  // namespace assay::tools
