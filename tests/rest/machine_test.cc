// What is told of the machine: kinds of GPU, statistics, metrics, health.
#include "tests/catch.h"
#include "tests/rest/desk.h"

using namespace assay;
using namespace assay::rest;
using nlohmann::json;

TEST_CASE("no name of a GPU is told where none has run the kernel") {
  const char* before = std::getenv("GPU_TYPE");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("GPU_TYPE", "H100", 1);
  const auto told = [](bool has_gpu, const char* device) {
    Desk desk;
    if (has_gpu) desk.engine.gpus = json::array({{{"name", "gpu:0"}, {"kind", "gpu"}}});
    desk.engine.stages[1].body = {{"device", device}, {"kernel", "k"}};
    const auto answer = desk.ask("POST", "/evaluate", evaluation().dump());
    const json body = body_of(answer);
    const std::string type = field(answer, "X-GPU-Type");
    CHECK(body.value("gpu_type", "") == type);
    CHECK(body.at("kernel_exec_result").at("metadata").value("gpu_type", "") == type);
    return type;
  };
  CHECK(told(false, "emulator").empty());
  CHECK(told(true, "emulator").empty());
  CHECK(told(true, "gpu:0") == "h100");
  if (kept.empty())
    ::unsetenv("GPU_TYPE");
  else
    ::setenv("GPU_TYPE", kept.c_str(), 1);
}

TEST_CASE("an answer tells the kind of GPU where there is one") {
  Desk desk;
  desk.engine.gpus = json::array({{{"name", "gpu:0"},
                                   {"kind", "gpu"},
                                   {"index", 0},
                                   {"model", "NVIDIA H200"},
                                   {"memory_bytes", 150'000'000'000}}});
  desk.engine.stages[1].body = {{"device", "gpu:0"}, {"kernel", "k"}, {"lease_wait_ms", 2.0}};
  const auto answer = desk.ask("POST", "/evaluate", evaluation().dump());
  CHECK(field(answer, "X-GPU-Type") == "h200");
  CHECK(body_of(answer).at("gpu_type") == "h200");
  CHECK(body_of(answer).at("kernel_exec_result").at("metadata").at("gpu_id") == 0);
  const json stats = desk.get("/stats");
  CHECK(stats.at("gpu_count") == 1);
  CHECK(stats.at("gpu_utilization").at("gpu_acquisitions") == 1);
  CHECK(stats.at("gpu_utilization").at("gpu_releases") == 1);
  CHECK(stats.at("gpu_utilization").at("total_wait_time_seconds") == Approx(0.002));
}

TEST_CASE("every field of the manual's statistics is there") {
  Desk desk;
  CHECK(desk.ask("POST", "/evaluate", evaluation().dump()).status == 200);
  const json stats = desk.get("/stats");
  const std::vector<std::pair<const char*, std::vector<const char*>>> fields{
      {"job_stats", {"total_jobs", "by_status", "average_age"}},
      {"compilation_metrics",
       {"total_compilations", "successful_compilations", "failed_compilations",
        "total_time_seconds", "average_time_seconds", "success_rate", "cache_hit_rate",
        "cache_hits", "cache_misses", "min_time_seconds", "max_time_seconds"}},
      {"profiling_metrics",
       {"total_profilings", "successful_profilings", "failed_profilings", "total_time_seconds",
        "average_time_seconds", "min_time_seconds", "max_time_seconds", "success_rate",
        "correctness_passed", "correctness_failed", "correctness_rate", "gpu_usage_times",
        "graph_capture_success_rate"}},
      {"gpu_utilization",
       {"gpu_acquisitions", "gpu_releases", "active_sessions", "total_gpu_time_seconds",
        "total_wait_time_seconds", "average_wait_time_seconds", "max_wait_time_seconds",
        "min_wait_time_seconds", "utilization_by_gpu"}},
      {"throughput",
       {"server_uptime_seconds", "server_uptime_minutes", "total_requests", "completed_requests",
        "failed_requests", "success_rate", "requests_per_minute", "recent_throughput_per_minute",
        "average_end_to_end_time_seconds", "min_end_to_end_time_seconds",
        "max_end_to_end_time_seconds", "active_jobs"}}};
  for (const auto& [section, members] : fields)
    for (const char* member : members) {
      INFO(section << '.' << member);
      CHECK(stats.at(section).contains(member));
    }
  CHECK(stats.contains("timestamp"));
  CHECK(stats.at("job_stats").at("by_status") == json({{"completed", 1}}));
}

TEST_CASE("the metrics are the statistics, as Prometheus reads them") {
  Desk desk;
  CHECK(desk.ask("POST", "/evaluate", evaluation().dump()).status == 200);
  const auto answer = desk.ask("GET", "/metrics");
  CHECK(answer.content_type == "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line :
       {"# TYPE assay_jobs_submitted_total counter\n", "\nassay_jobs_submitted_total 1\n",
        "\nassay_jobs_active 0\n", "\nassay_jobs_ended_total{verdict=\"passed\"} 1\n",
        "\nassay_jobs_kept{state=\"completed\"} 1\n", "\nassay_compilation_seconds_total 0.02\n"}) {
    INFO(line);
    CHECK(("\n" + answer.body).find(line) != std::string::npos);
  }
}

TEST_CASE("health is what was tried just now") {
  Desk desk;
  auto answer = desk.ask("GET", "/health");
  CHECK(answer.status == 200);
  json body = body_of(answer);
  CHECK(body.at("status") == "healthy");
  CHECK(body.at("gpu_manager").at("available_gpus") == json::array());
  CHECK(body.at("devices").at(0).at("name") == "emulator");
  CHECK(body.at("backends").at("cuda") == "emulator");
  CHECK(body.at("job_stats").at("total_jobs") == 0);

  desk.engine.level = "L0";
  CHECK(desk.ask("GET", "/health").status == 500);
  desk.engine.level = "L2";
  desk.engine.answers = false;
  answer = desk.ask("GET", "/health");
  CHECK(answer.status == 500);
  CHECK(body_of(answer).at("status") == "unhealthy");
  CHECK(body_of(answer).at("error").get<std::string>().find("cannot be started") !=
        std::string::npos);
  desk.engine.answers = true;
  CHECK(desk.ask("GET", "/health").status == 200);

  // A journal whose file was taken away takes no jobs.
  std::filesystem::rename(desk.folder / "journal.db", desk.folder / "gone.db");
  CHECK(desk.ask("GET", "/health").status == 500);
  const auto refused = desk.ask("POST", "/evaluate", evaluation().dump());
  CHECK(refused.status == 500);
  CHECK(body_of(refused).at("retryable") == true);
  std::filesystem::rename(desk.folder / "gone.db", desk.folder / "journal.db");
  CHECK(desk.ask("GET", "/health").status == 200);
}
