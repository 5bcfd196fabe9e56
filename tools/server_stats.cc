#include "tools/server_stats.h"

#include <chrono>
#include <string>

namespace assay::tools {
namespace {

using mcp::OrderedJson;

constexpr double kBytesPerMb = 1024.0 * 1024.0;

OrderedJson share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return nullptr;
  return static_cast<double>(part) / static_cast<double>(whole);
}

OrderedJson average(const Durations& all) {
  if (all.count == 0) return nullptr;
  return all.total_s / static_cast<double>(all.count);
}

OrderedJson if_any(const Durations& all, double value) {
  return all.count == 0 ? OrderedJson(nullptr) : OrderedJson(value);
}

OrderedJson compilation_metrics(const JobCounts& counts) {
  const Durations& all = counts.compilations;
  return {{"total_compilations", all.count},
          {"successful_compilations", all.count - counts.compilations_failed},
          {"failed_compilations", counts.compilations_failed},
          {"success_rate", share(all.count - counts.compilations_failed, all.count)},
          {"total_time_seconds", all.total_s},
          {"average_time_seconds", average(all)},
          {"min_time_seconds", if_any(all, all.min_s)},
          {"max_time_seconds", if_any(all, all.max_s)},
          {"cache_hits", counts.cache_hits},
          {"cache_misses", all.count - counts.cache_hits},
          {"cache_hit_rate", share(counts.cache_hits, all.count)}};
}

OrderedJson profiling_metrics(const JobCounts& counts) {
  const Durations& all = counts.timings;
  const std::uint64_t validations = counts.validations_passed + counts.validations_failed;
  OrderedJson gpu_seconds = OrderedJson::object();
  for (const auto& [gpu, use] : counts.gpus) gpu_seconds[gpu] = use.held_s;
  return {{"total_profilings", all.count},
          {"successful_profilings", all.count - counts.timings_failed},
          {"failed_profilings", counts.timings_failed},
          {"success_rate", share(all.count - counts.timings_failed, all.count)},
          {"total_time_seconds", all.total_s},
          {"average_time_seconds", average(all)},
          {"min_time_seconds", if_any(all, all.min_s)},
          {"max_time_seconds", if_any(all, all.max_s)},
          {"correctness_passed", counts.validations_passed},
          {"correctness_failed", counts.validations_failed},
          {"correctness_rate", share(counts.validations_passed, validations)},
          {"graph_captures_attempted", counts.captures_tried},
          {"graph_captures", counts.captures_made},
          {"graph_capture_success_rate", share(counts.captures_made, counts.captures_tried)},
          {"gpu_usage_times", std::move(gpu_seconds)}};
}

OrderedJson gpu_utilization(const JobCounts& counts) {
  const Durations& waits = counts.lease_waits;
  OrderedJson by_gpu = OrderedJson::object();
  double held_s = 0;
  for (const auto& [gpu, use] : counts.gpus) {
    held_s += use.held_s;
    by_gpu[gpu] = {{"acquisitions", use.leases},
                   {"total_time_seconds", use.held_s},
                   {"utilization", counts.uptime_s > 0 ? use.held_s / counts.uptime_s : 0}};
  }
  return {{"gpu_acquisitions", waits.count},
          {"gpu_releases", counts.leases_returned},
          {"active_sessions", waits.count - counts.leases_returned},
          {"total_gpu_time_seconds", held_s},
          {"total_wait_time_seconds", waits.total_s},
          {"average_wait_time_seconds", average(waits)},
          {"min_wait_time_seconds", if_any(waits, waits.min_s)},
          {"max_wait_time_seconds", if_any(waits, waits.max_s)},
          {"utilization_by_gpu", std::move(by_gpu)}};
}

OrderedJson throughput(const JobCounts& counts) {
  const Durations& all = counts.end_to_end;
  const double minutes = counts.uptime_s / 60;
  // A server younger than the window has had less time.
  const double lately = std::min(counts.uptime_s, kLatelyS) / 60;
  const auto per = [](std::uint64_t count, double over) -> OrderedJson {
    if (over <= 0) return nullptr;
    return static_cast<double>(count) / over;
  };
  return {{"server_uptime_seconds", counts.uptime_s},
          {"server_uptime_minutes", minutes},
          {"total_requests", counts.submitted},
          {"completed_requests", counts.completed},
          {"failed_requests", counts.failed},
          {"active_jobs", counts.active},
          {"success_rate", share(counts.completed, counts.completed + counts.failed)},
          {"requests_per_minute", per(counts.submitted, minutes)},
          {"recent_throughput_per_minute", per(counts.ended_lately, lately)},
          {"average_end_to_end_time_seconds", average(all)},
          {"min_end_to_end_time_seconds", if_any(all, all.min_s)},
          {"max_end_to_end_time_seconds", if_any(all, all.max_s)}};
}

OrderedJson gpu_info(const nlohmann::json& capabilities) {
  OrderedJson gpus = OrderedJson::array();
  for (const auto& device : capabilities.value("devices", nlohmann::json::array())) {
    if (device.value("kind", "") != "gpu") continue;
    OrderedJson gpu = {{"device_id", device.value("index", 0)},
                       {"device_name", device.value("model", "")}};
    if (device.contains("memory_bytes"))
      gpu["memory_total_mb"] = device.at("memory_bytes").get<double>() / kBytesPerMb;
    if (device.contains("health")) gpu["condition"] = device.at("health").at("condition");
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

OrderedJson job_stats(const Jobs& jobs) {
  const journal::Counts counts = jobs.journal_counts();
  OrderedJson by_status = OrderedJson::object();
  for (const auto& [state, count] : counts.by_state)
    by_status[std::string(job::name(state))] = count;
  return {
      {"total_jobs", counts.jobs},
      {"by_status", std::move(by_status)},
      {"average_age", counts.jobs == 0 ? OrderedJson(nullptr) : OrderedJson(counts.mean_age_s)}};
}

OrderedJson server_stats(Jobs& jobs) {
  const JobCounts counts = jobs.counters().counts();
  OrderedJson gpus = gpu_info(jobs.capabilities(false));
  OrderedJson verdicts = OrderedJson::object();
  for (const auto& [verdict, count] : counts.by_verdict)
    verdicts[std::string(job::name(verdict))] = count;
  return {{"status", "healthy"},
          {"gpu_available", !gpus.empty()},
          {"gpu_count", gpus.size()},
          {"gpu_info", std::move(gpus)},
          {"job_stats", job_stats(jobs)},
          {"verdicts", std::move(verdicts)},
          {"compilation_metrics", compilation_metrics(counts)},
          {"profiling_metrics", profiling_metrics(counts)},
          {"gpu_utilization", gpu_utilization(counts)},
          {"throughput", throughput(counts)},
          {"timestamp", unix_seconds()}};
}

}  // namespace assay::tools
