#include "rest/metrics_text.h"

#include <array>

namespace assay::rest {
namespace {

using mcp::OrderedJson;

struct Metric {
  const char* name;
  const char* type;
  const char* help;
  const char* pointer;  // into the statistics
};

constexpr std::array<Metric, 19> kMetrics{{
    {"assay_uptime_seconds", "gauge", "Time since the server started.",
     "/throughput/server_uptime_seconds"},
    {"assay_jobs_active", "gauge", "Jobs that have not ended.", "/throughput/active_jobs"},
    {"assay_jobs_submitted_total", "counter", "Jobs made.", "/throughput/total_requests"},
    {"assay_jobs_faulted_total", "counter", "Jobs ended by a fault of the server.",
     "/throughput/failed_requests"},
    {"assay_compilations_total", "counter", "Compile stages.",
     "/compilation_metrics/total_compilations"},
    {"assay_compilations_failed_total", "counter", "Compile stages that failed.",
     "/compilation_metrics/failed_compilations"},
    {"assay_compilation_seconds_total", "counter", "Time in compile stages.",
     "/compilation_metrics/total_time_seconds"},
    {"assay_compile_cache_hits_total", "counter", "Compile stages answered by the cache.",
     "/compilation_metrics/cache_hits"},
    {"assay_validations_passed_total", "counter", "Validations with right outputs.",
     "/profiling_metrics/correctness_passed"},
    {"assay_validations_failed_total", "counter", "Validations that failed.",
     "/profiling_metrics/correctness_failed"},
    {"assay_timings_total", "counter", "Timed stages.", "/profiling_metrics/total_profilings"},
    {"assay_timings_failed_total", "counter", "Timed stages that failed.",
     "/profiling_metrics/failed_profilings"},
    {"assay_timing_seconds_total", "counter", "Time in timed stages.",
     "/profiling_metrics/total_time_seconds"},
    {"assay_graph_captures_attempted_total", "counter", "Launches to be captured as a CUDA graph.",
     "/profiling_metrics/graph_captures_attempted"},
    {"assay_graph_captures_total", "counter", "Launches captured as a CUDA graph.",
     "/profiling_metrics/graph_captures"},
    {"assay_gpu_leases_total", "counter", "GPUs taken.", "/gpu_utilization/gpu_acquisitions"},
    {"assay_gpu_leases_active", "gauge", "GPUs held now.", "/gpu_utilization/active_sessions"},
    {"assay_gpu_wait_seconds_total", "counter", "Time jobs waited for a GPU.",
     "/gpu_utilization/total_wait_time_seconds"},
    {"assay_gpus", "gauge", "GPUs of this machine.", "/gpu_count"},
}};

void describe(std::string& text, const std::string& name, const char* type, const char* help) {
  text += "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
}

// One metric with a label, its value for every member of `values`.
void tell_family(std::string& text, const Metric& metric, const char* label,
                 const OrderedJson& stats, const char* member = nullptr) {
  const OrderedJson values = stats.value(OrderedJson::json_pointer(metric.pointer), OrderedJson());
  if (!values.is_object() || values.empty()) return;
  describe(text, metric.name, metric.type, metric.help);
  // The names are ours (states, verdicts, "gpu:0"): nothing in them needs an escape.
  for (const auto& [name, value] : values.items())
    text += std::string(metric.name) + '{' + label + "=\"" + name + "\"} " +
            (member == nullptr ? value : value.at(member)).dump() + '\n';
}

}  // namespace

std::string metrics_text(const OrderedJson& stats) {
  std::string text;
  for (const Metric& metric : kMetrics) {
    const OrderedJson value = stats.value(OrderedJson::json_pointer(metric.pointer), OrderedJson());
    if (!value.is_number()) continue;
    describe(text, metric.name, metric.type, metric.help);
    text += std::string(metric.name) + ' ' + value.dump() + '\n';
  }
  tell_family(text, {"assay_jobs_kept", "gauge", "Jobs in the journal.", "/job_stats/by_status"},
              "state", stats);
  tell_family(text, {"assay_jobs_ended_total", "counter", "Jobs ended, by verdict.", "/verdicts"},
              "verdict", stats);
  tell_family(text,
              {"assay_gpu_seconds_total", "counter", "Time a GPU was held.",
               "/gpu_utilization/utilization_by_gpu"},
              "gpu", stats, "total_time_seconds");
  return text;
}

}  // namespace assay::rest
