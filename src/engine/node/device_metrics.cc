#include "engine/node/device_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
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

// Sectors that were looked up in the L2, by multiprocessors and by anybody.
constexpr std::string_view kOwnHits = "lts__t_sectors_srcunit_tex_lookup_hit.sum";
constexpr std::string_view kOwnMisses = "lts__t_sectors_srcunit_tex_lookup_miss.sum";
constexpr std::string_view kHits = "lts__t_sectors_lookup_hit.sum";
constexpr std::string_view kMisses = "lts__t_sectors_lookup_miss.sum";

constexpr std::array kMetrics{
    Metric{"speed_of_light", "compute_memory_throughput_pct",
           "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
    // As clients of the system before know it; the compute units' own is the next.
    Metric{"speed_of_light", "compute_throughput_pct",
           "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"},
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
    // Sectors by who asked: `l2_hit_rate_pct` is of all of them, also of those that one half of the
    // L2 asks the other for.
    Metric{"l2_metrics", "l2_sm_hits_sum", kOwnHits},
    Metric{"l2_metrics", "l2_sm_misses_sum", kOwnMisses},
    Metric{"l2_metrics", "l2_hits_sum", kHits},
    Metric{"l2_metrics", "l2_misses_sum", kMisses},
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
    Metric{"roofline_metrics", "dram_bytes_read_sum", "dram__bytes_read.sum"},
    Metric{"roofline_metrics", "dram_bytes_write_sum", "dram__bytes_write.sum"},
    Metric{"timing_metrics", "gpu_time_duration_sum", "gpu__time_duration.sum"},
    Metric{"timing_metrics", "gpu_time_duration_seconds", "gpu__time_duration.sum", 1e-9},
    Metric{"timing_metrics", "gpc_cycles_elapsed_max", "gpc__cycles_elapsed.max"},
};

// Requests and sectors of one kind of access; the sectors per request are their quotient.
constexpr std::string_view kLoadRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view kStoreRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
constexpr std::string_view kStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
// What the threads asked for, in bytes.
constexpr std::string_view kLoadBytes = "smsp__sass_data_bytes_mem_global_op_ld.sum";
constexpr std::string_view kStoreBytes = "smsp__sass_data_bytes_mem_global_op_st.sum";
constexpr std::string_view kDramBytes = "dram__bytes.sum";
constexpr std::string_view kDuration = "gpu__time_duration.sum";
constexpr double kSectorBytes = 32;

// Floating-point operations by width, a fused multiply-add counted as two. Tensor cores are not in
// these.
constexpr std::string_view kSingleFlops =
    "smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum";
constexpr std::string_view kDoubleFlops =
    "smsp__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on.sum";
constexpr std::string_view kHalfFlops =
    "smsp__sass_thread_inst_executed_ops_hadd_hmul_hfma_pred_on.sum";

// Values that are made of several counters.
struct Derived {
  std::string_view section{};
  std::string_view key{};
  std::array<std::string_view, 5> counters{};
};
constexpr std::array kDerived{
    Derived{"access_pattern_metrics", "l1_load_sectors_per_req", {kLoadSectors, kLoadRequests}},
    Derived{"access_pattern_metrics", "l1_store_sectors_per_req", {kStoreSectors, kStoreRequests}},
    Derived{
        "access_pattern_metrics", "l2_theoretical_sectors_global", {kLoadSectors, kStoreSectors}},
    Derived{
        "access_pattern_metrics", "l2_theoretical_sectors_global_ideal", {kLoadBytes, kStoreBytes}},
    Derived{"access_pattern_metrics",
            "l2_theoretical_sectors_global_excessive",
            {kLoadSectors, kStoreSectors, kLoadBytes, kStoreBytes}},
    Derived{"access_pattern_metrics",
            "l2_excess_frac",
            {kLoadSectors, kStoreSectors, kLoadBytes, kStoreBytes}},
    Derived{"l2_metrics", "l2_sm_hit_rate_pct", {kOwnHits, kOwnMisses}},
    Derived{"roofline_metrics", "flop_count_total", {kSingleFlops, kDoubleFlops, kHalfFlops}},
    Derived{"roofline_metrics",
            "arithmetic_intensity",
            {kSingleFlops, kDoubleFlops, kHalfFlops, kDramBytes}},
    Derived{"roofline_metrics", "gflops", {kSingleFlops, kDoubleFlops, kHalfFlops, kDuration}},
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

// Whole numbers as they are; of others seven digits are more than any repeat agrees in.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value) || value == std::floor(value)) return value;
  constexpr int kDigits = 7;
  const double unit = std::pow(10, kDigits - 1 - std::floor(std::log10(std::abs(value))));
  return std::isfinite(unit) ? std::round(value * unit) / unit : value;
}

json value_of(const CounterValues& values, std::string_view counter, double scale = 1) {
  const auto found = values.find(std::string(counter));
  return found == values.end() ? json(nullptr) : json(rounded(found->second * scale));
}

json quotient(const json& above, const json& below) {
  if (!above.is_number() || !below.is_number() || below.get<double>() == 0) return nullptr;
  return rounded(above.get<double>() / below.get<double>());
}

json sum(const CounterValues& values, std::initializer_list<std::string_view> counters) {
  double all = 0;
  for (const auto counter : counters) {
    const auto found = values.find(std::string(counter));
    if (found == values.end()) return nullptr;
    all += found->second;
  }
  return all;
}

// What does not limit has no number.
json blocks_or_null(unsigned blocks) { return blocks == ~0U ? json(nullptr) : json(blocks); }

void tell_limits(json& out, const LaunchFacts& launch) {
  const auto by = [&](Limiter limiter) {
    return launch.occupancy ? blocks_or_null(launch.occupancy->blocks_by(limiter)) : json(nullptr);
  };
  out["registers_per_thread"] = launch.registers_per_thread;
  out["occupancy_limit_registers"] = by(Limiter::registers);
  out["occupancy_limit_shared_mem"] = by(Limiter::shared_memory);
  out["occupancy_limit_warps"] = by(Limiter::block_size);
  out["occupancy_limit_blocks"] = by(Limiter::blocks);
}

json waves(const LaunchFacts& launch) {
  if (!launch.occupancy) return nullptr;
  const double places = static_cast<double>(launch.occupancy->blocks) * launch.multiprocessors;
  return places > 0 ? json(static_cast<double>(launch.grid_blocks) / places) : json(nullptr);
}

void tell_occupancy(json& out, const LaunchFacts& launch) {
  tell_limits(out, launch);
  out["block_size"] = launch.block_threads;
  out["grid_size"] = launch.grid_blocks;
  out["shared_mem_per_block"] = launch.shared_bytes_per_block;
  out["waves_per_sm"] = waves(launch);
  out["theoretical_occupancy_pct"] =
      launch.occupancy ? json(launch.occupancy->percent()) : json(nullptr);
}

// One kind of operation may not be counted, and the others are what there is.
void tell_roofline(json& out, const CounterValues& values) {
  double flops = 0;
  bool counted = false;
  for (const auto counter : {kSingleFlops, kDoubleFlops, kHalfFlops}) {
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
  const json asked = sum(values, {kLoadSectors, kStoreSectors});
  const json needed = quotient(sum(values, {kLoadBytes, kStoreBytes}), kSectorBytes);
  json excessive;
  if (asked.is_number() && needed.is_number()) {
    excessive = std::max(asked.get<double>() - needed.get<double>(), 0.0);
  }
  out["l2_theoretical_sectors_global"] = asked;
  out["l2_theoretical_sectors_global_ideal"] = needed;
  out["l2_excess_frac"] = quotient(excessive, asked);
  out["l2_theoretical_sectors_global_excessive"] = std::move(excessive);
}

void tell_l2(json& out, const CounterValues& values) {
  constexpr double kPercent = 100;
  const json share = quotient(value_of(values, kOwnHits), sum(values, {kOwnHits, kOwnMisses}));
  out["l2_sm_hit_rate_pct"] =
      share.is_number() ? json(rounded(kPercent * share.get<double>())) : share;
}

// Why a value that is made of these is null.
std::string gap(std::span<const std::string_view> counters, const CounterValues& values,
                const CounterGaps& gaps) {
  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto counter : counters) {
    const std::string name(counter);
    if (name.empty() || values.contains(name)) continue;
    if (has(gaps.refused, counter)) return "this GPU has no counter " + name;
    if (has(gaps.without_value, counter)) return name + " is a ratio over nothing";
    return name + " was not counted";
  }
  return "the kernel does nothing of the kind";
}

std::string launch_gap(const LaunchFacts& launch) {
  return launch.occupancy ? "it limits nothing"
                          : "the limits of this architecture are not documented";
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
  for (const Derived& derived : kDerived) {
    for (const auto counter : derived.counters) {
      if (wanted(derived.section) && !counter.empty()) add(counter);
    }
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
    if (section == "compute_metrics") tell_limits(out, launch);
    if (section == "detailed_metrics") out["waves_per_sm"] = waves(launch);
    if (section == "roofline_metrics") tell_roofline(out, values);
    if (section == "access_pattern_metrics") tell_access(out, values);
    if (section == "l2_metrics") tell_l2(out, values);
    if (section == "timing_metrics") {
      out["gpu_time_duration_unit"] = "ns";
      out["gpc_cycles_elapsed_unit"] = "cycle";
    }
  }
  return told;
}

json tell_gaps(const json& told, const CounterValues& values, const CounterGaps& gaps,
               const LaunchFacts& launch) {
  std::map<std::string, std::string> reasons;
  for (const Metric& metric : kMetrics) {
    reasons[std::string(metric.section) + "." + std::string(metric.key)] =
        gap(std::array{metric.counter}, values, gaps);
  }
  for (const Derived& derived : kDerived) {
    reasons[std::string(derived.section) + "." + std::string(derived.key)] =
        gap(derived.counters, values, gaps);
  }
  json out = json::object();
  for (const auto& [section, keys] : told.items()) {
    for (const auto& [key, value] : keys.items()) {
      if (!value.is_null()) continue;
      std::string name = section + ".";
      name += key;
      const auto reason = reasons.find(name);
      out[name] = reason != reasons.end() ? reason->second : launch_gap(launch);
    }
  }
  return out;
}

}  // namespace assay::node
