#include "engine/node/device_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace assay::node {
namespace {

using nlohmann::json;

struct Metric {
  std::string_view section{};
  std::string_view key{};
  std::string_view counter{};  // as Nsight Compute names it
  double scale = 1;
};

constexpr double kPerGiga = 1e-9;

constexpr std::array kMetrics{
    Metric{"speed_of_light", "compute_memory_throughput_pct",
           "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"speed_of_light", "compute_throughput_pct",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"speed_of_light", "sm_throughput_pct",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"speed_of_light", "gpu_dram_throughput_pct",
           "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"speed_of_light", "memory_throughput_pct",
           "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"speed_of_light", "dram_throughput_pct",
           "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"detailed_metrics", "l1_hit_rate_pct", "l1tex__t_sector_hit_rate.pct"},
    Metric{"detailed_metrics", "l2_hit_rate_pct", "lts__t_sector_hit_rate.pct"},
    Metric{"detailed_metrics", "warp_occupancy_pct",
           "sm__warps_active.avg.pct_of_peak_sustained_active"},
    Metric{"detailed_metrics", "sm_active_cycles_pct",
           "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Metric{"detailed_metrics", "instructions_per_cycle", "sm__inst_executed.avg.per_cycle_active"},
    Metric{"memory_metrics", "dram_avg_bandwidth_gb_s", "dram__bytes.avg.per_second", kPerGiga},
    Metric{"memory_metrics", "dram_total_bandwidth_gb_s", "dram__bytes.sum.per_second", kPerGiga},
    Metric{"memory_metrics", "dram_active_cycles_pct",
           "dram__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Metric{"memory_metrics", "l1_writeback_active_pct",
           "l1tex__lsu_writeback_active.avg.pct_of_peak_sustained_elapsed"},
    Metric{"memory_metrics", "l1_read_sectors_pct",
           "l1tex__m_xbar2l1tex_read_sectors.avg.pct_of_peak_sustained_elapsed"},
    Metric{"memory_metrics", "l2_throughput_pct",
           "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    Metric{"compute_metrics", "fma_pipe_utilization_pct",
           "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"},
    Metric{"compute_metrics", "fp64_pipe_utilization_pct",
           "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active"},
    Metric{"compute_metrics", "alu_pipe_utilization_pct",
           "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"},
    Metric{"compute_metrics", "xu_pipe_utilization_pct",
           "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
    Metric{"compute_metrics", "tensor_pipe_utilization_pct",
           "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active"},
    Metric{"compute_metrics", "instructions_per_cycle", "sm__inst_executed.avg.per_cycle_active"},
    Metric{"pipeline_metrics", "fma_pipe_active_pct",
           "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"},
    Metric{"pipeline_metrics", "alu_pipe_active_pct",
           "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"},
    Metric{"pipeline_metrics", "tensor_pipe_active_pct",
           "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    Metric{"pipeline_metrics", "shared_pipe_active_pct",
           "sm__pipe_shared_cycles_active.avg.pct_of_peak_sustained_active"},
    Metric{"pipeline_metrics", "fp64_pipe_active_pct",
           "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"},
    Metric{"pipeline_metrics", "sm_issue_active_pct",
           "sm__issue_active.avg.pct_of_peak_sustained_active"},
    Metric{"stall_metrics", "stall_long_scoreboard_pct",
           "smsp__warp_issue_stalled_long_scoreboard_per_warp_active.pct"},
    Metric{"stall_metrics", "stall_short_scoreboard_pct",
           "smsp__warp_issue_stalled_short_scoreboard_per_warp_active.pct"},
    Metric{"stall_metrics", "stall_barrier_pct",
           "smsp__warp_issue_stalled_barrier_per_warp_active.pct"},
    Metric{"stall_metrics", "stall_not_selected_pct",
           "smsp__warp_issue_stalled_not_selected_per_warp_active.pct"},
    Metric{"scheduler_metrics", "warps_eligible_per_cycle",
           "smsp__warps_eligible.avg.per_cycle_active"},
    Metric{"scheduler_metrics", "inst_issued_per_cycle", "smsp__inst_issued.avg.per_cycle_active"},
    Metric{"scheduler_metrics", "issue_active_pct",
           "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    Metric{"access_pattern_metrics", "shared_bank_conflicts_load_sum",
           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"},
    Metric{"access_pattern_metrics", "shared_bank_conflicts_store_sum",
           "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
    Metric{"roofline_metrics", "dram_bytes_sum", "dram__bytes.sum"},
    Metric{"timing_metrics", "gpu_time_duration_sum", "gpu__time_duration.sum"},
    Metric{"timing_metrics", "gpu_time_duration_seconds", "gpu__time_duration.sum", 1e-9},
    Metric{"timing_metrics", "gpc_cycles_elapsed_max", "gpc__cycles_elapsed.max"},
};

// Requests and sectors of one kind of access; the sectors per request are their quotient.
constexpr std::string_view kLoadRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view kStoreRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
constexpr std::string_view kStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
constexpr std::string_view kDuration = "gpu__time_duration.sum";

// Floating-point operations by width, a fused multiply-add counted as two. Tensor cores are not in
// these.
constexpr std::array<std::string_view, 3> kFlops{
    "smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum",
    "smsp__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on.sum",
    "smsp__sass_thread_inst_executed_ops_hadd_hmul_hfma_pred_on.sum",
};

struct Alias {
  std::string_view name{};
  std::string_view section{};
};
constexpr std::array kAliases{
    Alias{"SpeedOfLight", "speed_of_light"},
    Alias{"Occupancy", "occupancy_metrics"},
    Alias{"ComputeWorkloadAnalysis", "compute_metrics"},
    Alias{"MemoryWorkloadAnalysis", "memory_metrics"},
    Alias{"LaunchStats", "occupancy_metrics"},
    Alias{"SchedulerStats", "scheduler_metrics"},
    Alias{"WarpStateStats", "stall_metrics"},
    Alias{"SourceCounters", "access_pattern_metrics"},
    Alias{"SpeedOfLight_RooflineChart", "roofline_metrics"},
    Alias{"InstructionStats", "pipeline_metrics"},
};

json value_of(const CounterValues& values, std::string_view counter, double scale = 1) {
  const auto found = values.find(std::string(counter));
  return found == values.end() ? json(nullptr) : json(found->second * scale);
}

json quotient(const json& above, const json& below) {
  if (!above.is_number() || !below.is_number() || below.get<double>() == 0) return nullptr;
  return above.get<double>() / below.get<double>();
}

void tell_occupancy(json& out, const LaunchFacts& launch) {
  out["registers_per_thread"] = launch.registers_per_thread;
  out["block_size"] = launch.block_threads;
  out["grid_size"] = launch.grid_blocks;
  out["shared_mem_per_block"] = launch.shared_bytes_per_block;
  for (const char* key :
       {"occupancy_limit_registers", "occupancy_limit_shared_mem", "occupancy_limit_warps",
        "occupancy_limit_blocks", "waves_per_sm", "theoretical_occupancy_pct"}) {
    out[key] = nullptr;
  }
  if (!launch.occupancy) return;
  const Occupancy& found = *launch.occupancy;
  out["occupancy_limit_registers"] = found.blocks_by(Limiter::registers);
  out["occupancy_limit_shared_mem"] = found.blocks_by(Limiter::shared_memory);
  out["occupancy_limit_warps"] = found.blocks_by(Limiter::block_size);
  out["occupancy_limit_blocks"] = found.blocks_by(Limiter::blocks);
  out["theoretical_occupancy_pct"] = found.percent();
  const double places = static_cast<double>(found.blocks) * launch.multiprocessors;
  if (places > 0) out["waves_per_sm"] = static_cast<double>(launch.grid_blocks) / places;
}

void tell_roofline(json& out, const CounterValues& values) {
  double flops = 0;
  bool counted = false;
  for (const auto counter : kFlops) {
    const auto found = values.find(std::string(counter));
    if (found == values.end()) continue;
    counted = true;
    flops += found->second;
  }
  out["flop_count_total"] = counted ? json(flops) : json(nullptr);
  out["arithmetic_intensity"] = quotient(out["flop_count_total"], out["dram_bytes_sum"]);
  out["gflops"] = quotient(out["flop_count_total"], value_of(values, kDuration));
}

void tell_access(json& out, const CounterValues& values) {
  out["l1_load_sectors_per_req"] =
      quotient(value_of(values, kLoadSectors), value_of(values, kLoadRequests));
  out["l1_store_sectors_per_req"] =
      quotient(value_of(values, kStoreSectors), value_of(values, kStoreRequests));
}

}  // namespace

std::vector<std::string> all_sections() {
  std::vector<std::string> sections{"occupancy_metrics"};
  for (const Metric& metric : kMetrics) {
    if (std::find(sections.begin(), sections.end(), metric.section) == sections.end()) {
      sections.emplace_back(metric.section);
    }
  }
  return sections;
}

std::vector<std::string> default_sections() {
  return {"speed_of_light", "detailed_metrics", "occupancy_metrics", "timing_metrics"};
}

std::optional<std::string> section_of(const std::string& name) {
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return std::string(alias.section);
  }
  const auto sections = all_sections();
  if (std::find(sections.begin(), sections.end(), name) != sections.end()) return name;
  return std::nullopt;
}

std::vector<std::string> counters_of(const std::vector<std::string>& sections) {
  std::vector<std::string> counters;
  const auto add = [&](std::string_view counter) {
    if (std::find(counters.begin(), counters.end(), counter) == counters.end()) {
      counters.emplace_back(counter);
    }
  };
  const auto wanted = [&](std::string_view section) {
    return std::find(sections.begin(), sections.end(), section) != sections.end();
  };
  for (const Metric& metric : kMetrics) {
    if (wanted(metric.section)) add(metric.counter);
  }
  if (wanted("access_pattern_metrics")) {
    for (const auto counter : {kLoadRequests, kLoadSectors, kStoreRequests, kStoreSectors}) {
      add(counter);
    }
  }
  if (wanted("roofline_metrics")) {
    for (const auto counter : kFlops) add(counter);
    add(kDuration);
  }
  return counters;
}

json tell_metrics(const std::vector<std::string>& sections, const CounterValues& values,
                  const LaunchFacts& launch) {
  json told = json::object();
  for (const auto& section : sections) {
    json& out = told[section] = json::object();
    for (const Metric& metric : kMetrics) {
      if (metric.section == section) {
        out[std::string(metric.key)] = value_of(values, metric.counter, metric.scale);
      }
    }
    if (section == "occupancy_metrics") tell_occupancy(out, launch);
    if (section == "roofline_metrics") tell_roofline(out, values);
    if (section == "access_pattern_metrics") tell_access(out, values);
    if (section == "timing_metrics") {
      out["gpu_time_duration_unit"] = "ns";
      out["gpc_cycles_elapsed_unit"] = "cycle";
    }
  }
  return told;
}

}  // namespace assay::node
