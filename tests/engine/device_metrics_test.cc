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

std::string limiter(const CounterValues& values, const LaunchFacts& launch, double kernel_ns) {
  const json told = limiter_of(values, launch, {.kernel_ns = kernel_ns, .event_overhead_ns = 1300});
  CHECK(told.at("facts").size() == 2);
  CHECK(!told.at("suggestion").get<std::string>().empty());
  return told.at("limiter");
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
  CHECK(limiter({}, launch, 50'000) == "unknown");
  LaunchFacts few = launch;
  few.grid_blocks = 20;
  CHECK(limiter(busy(90, 20), few, 50'000) == "occupancy");
  LaunchFacts crowded = launch;
  crowded.occupancy =
      occupancy(multiprocessor_limits(90).value(),
                {.threads = 256, .registers_per_thread = 255, .shared_bytes = 100 << 10});
  CHECK(limiter(busy(30, 25, 20), crowded, 50'000) == "occupancy");
}
