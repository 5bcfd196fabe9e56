// What the manual's clients rely on: paths, fields, bounds, messages, headers, defaults.
#include "tests/catch.h"
#include "tests/rest/desk.h"

using namespace assay;
using namespace assay::rest;
using nlohmann::json;

namespace {

json body_of(const mcp::http::HttpAnswer& answer) { return json::parse(answer.body); }

std::string field(const mcp::http::HttpAnswer& answer, std::string_view name) {
  for (const auto& one : answer.fields)
    if (mcp::http::same_name(one.name, name)) return one.value;
  return {};
}

std::vector<std::string> names(const json& object) {
  std::vector<std::string> all;
  for (const auto& [name, value] : object.items()) all.push_back(name);
  return all;
}

json stages_with_times(json views) {
  return {{"clock", "gpu"},
          {"note", ""},
          {"trials_requested", 3},
          {"samples_ns", {1000.0, 2000.0, 3000.0}},
          {"reference_samples_ns", {4000.0, 4000.0}},
          {"views", std::move(views)}};
}

}  // namespace

TEST_CASE("an evaluation has the manual's fields") {
  Desk desk;
  desk.engine.stages.push_back({.name = "timed", .body = stages_with_times(json::object())});
  const auto answer = desk.ask("POST", "/evaluate", evaluation().dump());
  const json body = body_of(answer);
  for (const char* name : {"job_id", "kernel_exec_result", "pod_name", "pod_ip", "status"})
    CHECK(body.contains(name));
  const json& result = body.at("kernel_exec_result");
  CHECK(result.at("compiled") == true);
  CHECK(result.at("correctness") == true);
  CHECK(result.at("runtime") == Approx(0.002));
  for (const char* name : {"mean", "std", "min", "max", "median", "percentile_95", "percentile_99"})
    CHECK(result.at("runtime_stats").contains(name));
  CHECK(answer.content_type == "application/json");
  CHECK(field(answer, "Cache-Control") == "no-cache, no-store, must-revalidate");
  CHECK(field(answer, "Pragma") == "no-cache");
  CHECK(field(answer, "Expires") == "0");
}

TEST_CASE("a comparison always has the reference's runtime, zeros if it was not timed") {
  Desk desk;
  const json untimed = body_of(desk.ask("POST", "/compare", comparison().dump()));
  CHECK(untimed.at("ref_runtime").at("mean") == 0.0);
  CHECK(untimed.at("ref_runtime").size() == 7);
  desk.engine.stages.push_back({.name = "timed", .body = stages_with_times(json::object())});
  const json timed = body_of(desk.ask("POST", "/", comparison().dump()));
  CHECK(timed.at("ref_runtime").at("median") == Approx(0.004));
}

TEST_CASE("the manual's bounds are refused in the manual's words") {
  struct Row {
    const char* name;
    double value;
    const char* message;
  };
  for (const char* path : {"/evaluate", "/compare", "/"}) {
    for (const Row& row : std::vector<Row>{{"num_trials", 0, "num_trials must be at least 1"},
                                           {"num_trials", 10'001, "num_trials cannot exceed 10000"},
                                           {"timeout", 4, "timeout must be at least 5 seconds"},
                                           {"timeout", 601, "timeout cannot exceed 600 seconds"}}) {
      INFO(path << ' ' << row.message);
      Desk desk;
      json body = std::string_view(path) == "/evaluate" ? evaluation() : comparison();
      body[row.name] = row.value;
      const auto answer = desk.ask("POST", path, body.dump());
      CHECK(answer.status == 400);
      const json told = body_of(answer);
      CHECK(told.at("status") == "client_error");
      CHECK(told.at("error") == row.message);
      CHECK(told.at("validation_errors").at(0).at("field") == row.name);
      CHECK(told.at("validation_errors").at(0).at("message") == row.message);
    }
  }
}

TEST_CASE("bounds that are met are accepted") {
  for (const auto& [name, value] : std::vector<std::pair<const char*, double>>{
           {"num_trials", 1}, {"num_trials", 10'000}, {"timeout", 5}, {"timeout", 600}}) {
    INFO(name << ' ' << value);
    Desk desk;
    json body = evaluation();
    body[name] = static_cast<std::int64_t>(value);
    CHECK(desk.ask("POST", "/evaluate", body.dump()).status == 200);
    CHECK(desk.engine.requests.at(0).at("options").at(name) == value);
  }
}

TEST_CASE("triton without a contract is refused in the manual's words") {
  Desk desk;
  json body = evaluation();
  body["kernel"] = {{"source_code", "x"}, {"kernel_type", "triton"}};
  const auto answer = desk.ask("POST", "/evaluate", body.dump());
  CHECK(answer.status == 400);
  CHECK(body_of(answer).at("error") == "Triton kernels require io_contract to be specified");
}

TEST_CASE("a body that is no JSON object is the client's error") {
  for (const char* text : {"", "{", "[]", "null", "3", "\"kernel\"", "{\"kernel\":}"}) {
    INFO(text);
    Desk desk;
    const auto answer = desk.ask("POST", "/evaluate", text);
    CHECK(answer.status == 400);
    CHECK(body_of(answer).at("error") == "Invalid request format");
    CHECK(body_of(answer).at("validation_errors").size() == 1);
  }
}

TEST_CASE("a place in the body is written as the manual writes it") {
  Desk desk;
  json body = evaluation();
  body["kernel"]["kernel_type"] = "metal";
  const json told = body_of(desk.ask("POST", "/evaluate", body.dump()));
  CHECK(told.at("validation_errors").at(0).at("field") == "kernel -> kernel_type");
  CHECK(told.at("validation_errors").at(0).at("pointer") == "/kernel/kernel_type");
}

TEST_CASE("null in a body is as good as nothing said") {
  Desk desk;
  json body = evaluation();
  for (const char* name : {"num_trials", "timeout", "device", "checks", "until", "detail", "atol"})
    body[name] = nullptr;
  CHECK(desk.ask("POST", "/evaluate", body.dump()).status == 200);
  CHECK(desk.engine.requests.at(0).at("options").at("num_trials") == 100);
}

TEST_CASE("unknown members of the body are ignored, and the answer says so") {
  Desk desk;
  json body = evaluation();
  body["colour"] = "green";
  const json told = body_of(desk.ask("POST", "/evaluate", body.dump()));
  CHECK(told.at("status") == "success");
  CHECK(told.at("warnings").dump().find("'colour'") != std::string::npos);
}

TEST_CASE("the oldest form is a comparison of torch with torch_cuda, with its own defaults") {
  Desk desk;
  const json body = {{"ref_code", "class Model: pass"}, {"custom_code", "class ModelNew: pass"}};
  for (const char* path : {"/", "/compare"}) {
    const auto answer = desk.ask("POST", path, body.dump());
    CHECK(answer.status == 200);
    const json& asked = desk.engine.requests.back();
    CHECK(asked.at("ref_kernel").at("kernel_type") == "torch");
    CHECK(asked.at("kernel").at("kernel_type") == "torch_cuda");
  }
}

TEST_CASE(
    "a comparison that says nothing of tolerance takes the manual's, an evaluation the dtype's") {
  Desk desk;
  CHECK(desk.ask("POST", "/compare", comparison().dump()).status == 200);
  CHECK(desk.engine.requests.at(0).at("options").at("atol") == 1e-2);
  CHECK(desk.engine.requests.at(0).at("options").at("rtol") == 1e-2);
  json strict = comparison();
  strict["atol"] = 0;
  CHECK(desk.ask("POST", "/compare", strict.dump()).status == 200);
  CHECK(desk.engine.requests.at(1).at("options").at("atol") == 0);
  CHECK(desk.ask("POST", "/evaluate", evaluation().dump()).status == 200);
  CHECK(desk.engine.requests.at(2).at("options").at("atol").is_null());
}

TEST_CASE("an engine fault has the manual's shape") {
  Desk desk;
  desk.engine.conclusion = {.verdict = job::Verdict::engine_fault,
                            .body = {{"summary", "No luck."}, {"detail", {{"why", "x"}}}}};
  const auto answer = desk.ask("POST", "/evaluate", evaluation().dump());
  CHECK(answer.status == 500);
  const json body = body_of(answer);
  for (const char* name : {"kernel_exec_result", "ref_runtime", "pod_name", "pod_ip", "status",
                           "error", "compilation_method", "job_id", "retryable"})
    CHECK(body.contains(name));
  CHECK(body.at("status") == "error");
  CHECK(body.at("error") == "No luck.");
}

TEST_CASE("a field that the manual's kernel must have and has not is a bad form") {
  for (const char* name : {"kernel_type", "source_code"}) {
    INFO(name);
    Desk desk;
    json body = evaluation();
    body["kernel"].erase(name);
    const auto answer = desk.ask("POST", "/evaluate", body.dump());
    CHECK(answer.status == 400);
    const json told = body_of(answer);
    CHECK(told.at("error") == "Invalid request format");
    CHECK(told.at("status") == "client_error");
    REQUIRE(told.at("validation_errors").size() == 1);
    CHECK(told.at("validation_errors").at(0).at("field") == std::string("kernel -> ") + name);
    CHECK(told.at("validation_errors").at(0).at("type") == "required");
    CHECK(desk.engine.requests.empty());
  }
}

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

TEST_CASE("a job is told by its state, its times and its report") {
  Desk desk;
  const json made = body_of(desk.ask("POST", "/evaluate", evaluation().dump()));
  const json job = desk.get("/job/" + made.at("job_id").get<std::string>());
  CHECK(names(job) == std::vector<std::string>{"created_at", "error", "job_id", "result", "status",
                                               "updated_at"});
  CHECK(job.at("status") == "completed");
  CHECK(job.at("error").is_null());
  CHECK(job.at("created_at") == "2027-01-15T08:00:00Z");
  const std::string path = "/job/" + made.at("job_id").get<std::string>();
  CHECK(desk.ask("GET", path + "/source").body == kernel().at("source_code"));
  CHECK(desk.ask("GET", path + "/source?offset=2&length=6").body == "global");
}

TEST_CASE("what is not found has one shape, which says what is missing") {
  Desk desk;
  const json made = body_of(desk.ask("POST", "/evaluate", evaluation().dump()));
  const std::string path = "/job/" + made.at("job_id").get<std::string>();
  struct Row {
    std::string path;
    const char* missing;
  };
  for (const Row& row : std::vector<Row>{{path + "/plot.svg", "part"},
                                         {path + "/nothing", "part"},
                                         {path + "/source/x", "part"},
                                         {"/job/1", "job"},
                                         {"/job/1/source", "job"},
                                         {"/job/../x", "job"},
                                         {"/job", "path"},
                                         {"/nowhere", "path"},
                                         {"/page.css/x", "path"}}) {
    INFO(row.path);
    const auto answer = desk.ask("GET", row.path);
    CHECK(answer.status == 404);
    const json body = body_of(answer);
    CHECK(names(body) == std::vector<std::string>{"error", "missing", "status"});
    CHECK(body.at("missing") == row.missing);
    CHECK(body.at("status") == "error");
    CHECK_FALSE(body.at("error").get<std::string>().empty());
  }
}

TEST_CASE("a job belongs to who made it") {
  Desk desk;
  const json made = body_of(desk.ask("POST", "/evaluate", evaluation().dump(), "ada"));
  const std::string path = "/job/" + made.at("job_id").get<std::string>();
  CHECK(desk.ask("GET", path, {}, "ada").status == 200);
  for (const char* other : {"bob", ""}) {
    CHECK(desk.ask("GET", path, {}, other).status == 404);
    CHECK(desk.ask("GET", path + "/source", {}, other).status == 404);
    CHECK(body_of(desk.ask("GET", "/jobs", {}, other)).at("jobs").empty());
  }
  CHECK(body_of(desk.ask("GET", "/jobs", {}, "ada")).at("jobs").size() == 1);
  desk.now_ns += 3'600'000'000'000;
  CHECK(body_of(desk.ask("POST", "/admin/cleanup-jobs", {}, "bob")).at("removed") == 0);
  CHECK(desk.ask("GET", path, {}, "ada").status == 200);
}

TEST_CASE("a clean-up by hand forgets what ended more than 300 seconds ago") {
  Desk desk;
  const json old = body_of(desk.ask("POST", "/evaluate", evaluation().dump()));
  desk.now_ns += 299'000'000'000;
  const json young = body_of(desk.ask("POST", "/evaluate", evaluation().dump()));
  CHECK(body_of(desk.ask("POST", "/admin/cleanup-jobs")).at("removed") == 0);
  desk.now_ns += 2'000'000'000;
  const json told = body_of(desk.ask("POST", "/admin/cleanup-jobs"));
  CHECK(told == json({{"status", "cleanup_completed"}, {"removed", 1}}));
  CHECK(desk.ask("GET", "/job/" + old.at("job_id").get<std::string>()).status == 404);
  CHECK(desk.ask("GET", "/job/" + young.at("job_id").get<std::string>()).status == 200);
}

TEST_CASE("a visitor who goes away has cancelled what was asked") {
  Desk desk;
  desk.engine.hangs = true;
  std::stop_source gone;
  std::thread leaving([&] {
    while (desk.get("/jobs").at("jobs").empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    gone.request_stop();
  });
  (void)desk.ask("POST", "/evaluate", evaluation().dump(), "local", gone.get_token());
  leaving.join();
  const std::string job_id = desk.get("/jobs").at("jobs").at(0).at("job_id");
  const auto record = desk.jobs.wait(
      job_id, "local", std::chrono::steady_clock::now() + std::chrono::seconds(30), {}, {});
  REQUIRE(record);
  CHECK(record->state == job::State::cancelled);
}

TEST_CASE("a path has its methods and no others") {
  Desk desk;
  struct Row {
    const char* method;
    const char* path;
    int status;
    const char* allow;
  };
  for (const Row& row : std::vector<Row>{{"GET", "/evaluate", 405, "POST"},
                                         {"DELETE", "/", 405, "GET, POST"},
                                         {"POST", "/stats", 405, "GET"},
                                         {"PUT", "/job/1", 405, "GET"},
                                         {"OPTIONS", "/compare", 204, "POST"},
                                         {"GET", "/nowhere", 404, ""},
                                         {"GET", "/evaluate/x", 404, ""},
                                         {"HEAD", "/health", 200, ""},
                                         {"GET", "/health/", 200, ""}}) {
    INFO(row.method << ' ' << row.path);
    const auto answer = desk.ask(row.method, row.path);
    CHECK(answer.status == row.status);
    CHECK(field(answer, "Allow") == row.allow);
  }
}

TEST_CASE("a wait is a number of seconds") {
  Desk desk;
  for (const char* wait : {"", "soon", "-1", "3601", "1e9", "nan", "inf", "1 "}) {
    INFO(wait);
    CHECK(desk.ask("POST", std::string("/evaluate?wait=") + wait, evaluation().dump()).status ==
          400);
  }
  CHECK(desk.ask("POST", "/evaluate?wait=5", evaluation().dump()).status == 200);
}

TEST_CASE("the page is public, holds no data and runs nothing that is not its own") {
  Desk desk;
  for (const char* path : {"/", "/page.js", "/page.css", "/health"})
    CHECK(desk.site.is_public({.method = "GET", .path = path}));
  for (const char* path : {"/stats", "/metrics", "/jobs", "/job/1", "/evaluate"})
    CHECK_FALSE(desk.site.is_public({.method = "GET", .path = path}));
  CHECK_FALSE(desk.site.is_public({.method = "POST", .path = "/"}));
  const auto answer = desk.ask("GET", "/");
  CHECK(answer.content_type == "text/html; charset=utf-8");
  CHECK(field(answer, "Content-Security-Policy")
            .starts_with("default-src 'none'; script-src 'self'"));
  for (const char* inline_code : {"<style", " onclick=", "javascript:", "://", "<script>"}) {
    INFO(inline_code);
    CHECK(answer.body.find(inline_code) == std::string::npos);
  }
}
