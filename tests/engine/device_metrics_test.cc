#include "engine/node/device_metrics.h"

#include <algorithm>

#include "engine/node/limiter.h"
#include "tests/catch.h"

using namespace assay::node;
using nlohmann::json;

namespace {

LaunchFacts filled_launch() {
  LaunchFacts launch{.grid_blocks = 4096,
                     .block_threads = 256,
                     .registers_per_thread = 32,
                     .shared_bytes_per_block = 1024,
                     .multiprocessors = 132};
  launch.occupancy = occupancy(multiprocessor_limits(90).value(),
                               {.threads = 256, .registers_per_thread = 32, .shared_bytes = 1024});
  return launch;
}

CounterValues busy(double compute, double memory, double warps = 80) {
  return {{"sm__throughput.avg.pct_of_peak_sustained_elapsed", compute},
          {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", memory},
          {"sm__warps_active.avg.pct_of_peak_sustained_active", warps}};
}

// A kernel of 4 ms that moves what a tenth of the memory's rate, or another share of it, would.
Traffic traffic(double share_pct = 10) {
  return {.bytes = share_pct / 100 * 4e12 * 4e-3, .roof = 4e12, .kernel_ns = 4e6};
}

json conclusion(const CounterValues& values, const LaunchFacts& launch, double kernel_ns,
                const Traffic& moved = traffic()) {
  json told =
      limiter_of(values, launch, {.kernel_ns = kernel_ns, .event_overhead_ns = 1300}, moved);
  CHECK(told.at("facts").size() == 2);
  for (const auto& fact : told.at("facts")) CHECK(!fact.get<std::string>().empty());
  CHECK(!told.at("suggestion").get<std::string>().empty());
  return told;
}

std::string limiter(const CounterValues& values, const LaunchFacts& launch, double kernel_ns) {
  return conclusion(values, launch, kernel_ns).at("limiter");
}

LaunchFacts crowded_launch() {
  LaunchFacts launch = filled_launch();
  launch.occupancy =
      occupancy(multiprocessor_limits(90).value(),
                {.threads = 256, .registers_per_thread = 255, .shared_bytes = 100 << 10});
  return launch;
}

}  // namespace

TEST_CASE("a section is known by the report's name and by Nsight Compute's") {
  CHECK(section_of("speed_of_light") == "speed_of_light");
  CHECK(section_of("SpeedOfLight") == "speed_of_light");
  CHECK(section_of("WarpStateStats") == "stall_metrics");
  CHECK(!section_of("Speed"));
  for (const auto& section : all_sections()) CHECK(section_of(section) == section);
}

TEST_CASE("every section but the launch's own asks for counters, each of them once") {
  for (const auto& section : all_sections()) {
    INFO(section);
    CHECK(counters_of({section}).empty() == (section == "occupancy_metrics"));
  }
  auto all = counters_of(all_sections());
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("too few blocks limit nothing that is busy all the same") {
  LaunchFacts few = filled_launch();
  few.grid_blocks = 131;
  CHECK(limiter(busy(20, 95), few, 4e6) == "memory");
  CHECK(limiter(busy(90, 10), few, 4e6) == "compute");
  CHECK(limiter(busy(20, 10), few, 4e6) == "occupancy");
  CHECK(conclusion({}, few, 4e6, traffic(90)).at("limiter") == "memory");
  CHECK(conclusion({}, few, 4e6, traffic(5)).at("limiter") == "occupancy");
}

TEST_CASE("a value that was not counted is null, never zero") {
  const json told = tell_metrics(all_sections(), {}, {});
  for (const auto& [section, values] : told.items()) {
    for (const auto& [key, value] : values.items()) {
      INFO(section << "." << key);
      const bool is_known = key == "grid_size" || key == "block_size" ||
                            key == "registers_per_thread" || key == "shared_mem_per_block" ||
                            key.ends_with("_unit");
      CHECK(value.is_null() != is_known);
    }
  }
}

TEST_CASE("quotients are of what was counted") {
  const json told = tell_metrics(
      {"access_pattern_metrics", "roofline_metrics", "timing_metrics", "memory_metrics"},
      {{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100},
       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 3200},
       {"dram__bytes.sum", 4000},
       {"dram__bytes.sum.per_second", 2.5e12},
       {"smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum", 6000},
       {"smsp__sass_thread_inst_executed_ops_dadd_dmul_dfma_pred_on.sum", 2000},
       {"gpu__time_duration.sum", 500}},
      {});
  CHECK(told["access_pattern_metrics"]["l1_load_sectors_per_req"] == 32.0);
  CHECK(told["access_pattern_metrics"]["l1_store_sectors_per_req"].is_null());
  CHECK(told["roofline_metrics"]["flop_count_total"] == 8000.0);
  CHECK(told["roofline_metrics"]["arithmetic_intensity"] == 2.0);
  CHECK(told["roofline_metrics"]["gflops"] == 16.0);
  CHECK(told["memory_metrics"]["dram_total_bandwidth_gb_s"] == 2500.0);
  CHECK(told["timing_metrics"]["gpu_time_duration_seconds"].get<double>() == Approx(500e-9));
}

TEST_CASE("the launch's own facts need no counter") {
  const json told = tell_metrics({"occupancy_metrics"}, {}, filled_launch());
  const json& facts = told.at("occupancy_metrics");
  CHECK(facts.at("occupancy_limit_warps") == 8);
  CHECK(facts.at("occupancy_limit_registers") == 8);
  CHECK(facts.at("occupancy_limit_blocks") == 32);
  CHECK(facts.at("theoretical_occupancy_pct") == 100.0);
  CHECK(facts.at("waves_per_sm").get<double>() == Approx(4096.0 / (132 * 8)));
}

TEST_CASE("what limits a kernel follows from what is busy") {
  const LaunchFacts launch = filled_launch();
  CHECK(limiter(busy(30, 85), launch, 50'000) == "memory");
  CHECK(limiter(busy(90, 20), launch, 50'000) == "compute");
  CHECK(limiter(busy(20, 25), launch, 50'000) == "latency");
  CHECK(limiter(busy(90, 90), launch, 1'500) == "launch");
  LaunchFacts few = launch;
  few.grid_blocks = 20;
  CHECK(limiter(busy(15, 20), few, 50'000) == "occupancy");
  CHECK(limiter(busy(30, 25, 20), crowded_launch(), 50'000) == "occupancy");
  // Neither the memory nor the compute units, and yet no warp waits in vain.
  auto through_caches = busy(40, 20);
  constexpr const char* kAll = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
  through_caches[kAll] = 88;
  const json caches = conclusion(through_caches, launch, 50'000);
  CHECK(caches.at("limiter") == "memory");
  CHECK(caches.at("facts").at(0) == "caches or shared memory at 88 % of their peak");
  CHECK(limiter(through_caches, few, 50'000) == "memory");
  through_caches[kAll] = 45;
  CHECK(limiter(through_caches, launch, 50'000) == "latency");
  auto computing = busy(90, 20);
  computing[kAll] = 91;
  CHECK(limiter(computing, launch, 50'000) == "compute");
  const json told = conclusion(busy(30, 85), launch, 50'000);
  CHECK(told.at("basis") == "counters");
  CHECK(told.at("confidence") == "high");
}

TEST_CASE("without counters the contract's bytes may say that it is the memory") {
  const json told = conclusion({}, filled_launch(), 4e6, traffic(72));
  CHECK(told.at("limiter") == "memory");
  CHECK(told.at("basis") == "computed");
  CHECK(told.at("confidence") == "high");
  CHECK(told.at("facts").at(0).get<std::string>().find("2880 GB/s, 72 %") != std::string::npos);
  CHECK(told.at("facts").at(1).get<std::string>().find("100 % of the warps") != std::string::npos);
  CHECK(conclusion({}, filled_launch(), 4e6, traffic(60)).at("limiter") == "memory");
  CHECK(conclusion({}, filled_launch(), 4e6, traffic(59)).at("limiter") == "unknown");
}

TEST_CASE("without counters a kernel that skips its tensors is not said to wait for the memory") {
  const json told = conclusion({}, filled_launch(), 4e6, traffic(300));
  CHECK(told.at("limiter") == "unknown");
  CHECK(told.at("confidence") == "none");
  CHECK(told.at("suggestion").get<std::string>().find("does not touch all") != std::string::npos);
}

TEST_CASE("without counters few warps are a likely reason, not a certain one") {
  const json told = conclusion({}, crowded_launch(), 4e6, traffic(20));
  CHECK(told.at("limiter") == "occupancy");
  CHECK(told.at("confidence") == "low");
  CHECK(conclusion({}, crowded_launch(), 4e6, traffic(80)).at("limiter") == "memory");
}

TEST_CASE("without counters compute and latency are not told apart, and what is known is told") {
  for (const Traffic& moved : {traffic(20), Traffic{}, Traffic{.bytes = 8, .kernel_ns = 5'000}}) {
    const json told = conclusion({}, filled_launch(), 50'000, moved);
    CHECK(told.at("limiter") == "unknown");
    CHECK(told.at("confidence") == "none");
  }
  // Less than is told of a cold run: the tensors stay in the L2 between runs.
  const Traffic small{.bytes = 12e6,
                      .cold_bytes = 8e6,
                      .roof = 4e12,
                      .kernel_ns = 3'500,
                      .cold_ns = 2'500,
                      .stays_in_l2 = true};
  CHECK(conclusion({}, filled_launch(), 3'500, small).at("limiter") == "memory");
}

TEST_CASE("why a value is null is told: no such counter, nothing to count, no limit") {
  const std::vector<std::string> sections{"pipeline_metrics", "detailed_metrics",
                                          "access_pattern_metrics", "occupancy_metrics"};
  CounterValues values;
  for (const auto& counter : counters_of(sections)) values[counter] = 0;
  const std::string shared = "sm__pipe_shared_cycles_active.avg.pct_of_peak_sustained_active";
  const std::string hits = "l1tex__t_sector_hit_rate.pct";
  const std::string bytes = "smsp__sass_data_bytes_mem_global_op_ld.sum";
  for (const auto& gone : {shared, hits, bytes}) values.erase(gone);
  LaunchFacts launch = filled_launch();
  launch.occupancy = occupancy(multiprocessor_limits(75).value(), {.threads = 32});
  const json told = tell_metrics(sections, values, launch);
  const json why = tell_gaps(told, values, {.refused = {shared}, .without_value = {hits}}, launch);
  CHECK(why.at("pipeline_metrics.shared_pipe_active_pct") == "this GPU has no counter " + shared);
  CHECK(why.at("detailed_metrics.l1_hit_rate_pct") == hits + " is a ratio over nothing");
  CHECK(why.at("access_pattern_metrics.l2_excess_frac") == bytes + " was not counted");
  CHECK(why.at("access_pattern_metrics.l1_load_sectors_per_req") ==
        "the kernel does nothing of the kind");
  CHECK(why.at("occupancy_metrics.occupancy_limit_registers") == "it limits nothing");
  std::size_t nulls = 0;
  for (const auto& section : told) {
    for (const auto& value : section) nulls += value.is_null() ? 1 : 0;
  }
  CHECK(why.size() == nulls);
}

TEST_CASE("whole numbers are told exactly, others with seven digits") {
  const auto told = [](double value) {
    return tell_metrics({"timing_metrics", "memory_metrics"},
                        {{"gpu__time_duration.sum", value}, {"dram__bytes.sum.per_second", value}},
                        {});
  };
  CHECK(told(201'326'593).at("timing_metrics").at("gpu_time_duration_sum") == 201'326'593.0);
  CHECK(told(12.345678901).at("timing_metrics").at("gpu_time_duration_sum") == 12.34568);
  CHECK(told(-0.00012345678901).at("timing_metrics").at("gpu_time_duration_sum") == -0.0001234568);
  CHECK(told(2.5e12).at("memory_metrics").at("dram_total_bandwidth_gb_s") == 2500.0);
  CHECK(told(5e-324).at("timing_metrics").at("gpu_time_duration_sum") == 5e-324);
}

TEST_CASE("sectors that were asked for in vain are a share of all") {
  const json told = tell_metrics({"access_pattern_metrics"},
                                 {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 900},
                                  {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 100},
                                  {"smsp__sass_data_bytes_mem_global_op_ld.sum", 4800},
                                  {"smsp__sass_data_bytes_mem_global_op_st.sum", 3200}},
                                 {})["access_pattern_metrics"];
  CHECK(told.at("l2_theoretical_sectors_global") == 1000.0);
  CHECK(told.at("l2_theoretical_sectors_global_ideal") == 250.0);
  CHECK(told.at("l2_theoretical_sectors_global_excessive") == 750.0);
  CHECK(told.at("l2_excess_frac") == 0.75);
}

TEST_CASE("sectors that multiprocessors ask the L2 for are told apart from those of others") {
  const auto told = [](double hits, double misses) {
    return tell_metrics({"l2_metrics"},
                        {{"lts__t_sectors_srcunit_tex_lookup_hit.sum", hits},
                         {"lts__t_sectors_srcunit_tex_lookup_miss.sum", misses},
                         {"lts__t_sectors_lookup_hit.sum", 240'000},
                         {"lts__t_sectors_lookup_miss.sum", 393'000}},
                        {})["l2_metrics"];
  };
  const json add = told(131'072, 262'144);
  CHECK(add.at("l2_sm_hit_rate_pct") == 33.33333);
  CHECK(add.at("l2_sm_hits_sum") == 131'072.0);
  CHECK(add.at("l2_sm_misses_sum") == 262'144.0);
  CHECK(add.at("l2_hits_sum") == 240'000.0);
  CHECK(add.at("l2_misses_sum") == 393'000.0);
  CHECK(told(0, 0).at("l2_sm_hit_rate_pct").is_null());
}

TEST_CASE("what the launch says stands in every section that clients look for it in") {
  const json told = tell_metrics({"compute_metrics", "detailed_metrics"}, {}, filled_launch());
  CHECK(told.at("compute_metrics").at("registers_per_thread") == 32);
  CHECK(told.at("compute_metrics").at("occupancy_limit_warps") == 8);
  CHECK(told.at("compute_metrics").at("occupancy_limit_shared_mem") == 114);
  CHECK(told.at("detailed_metrics").at("waves_per_sm").get<double>() == Approx(4096.0 / (132 * 8)));
}
