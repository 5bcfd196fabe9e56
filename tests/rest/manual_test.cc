// What the manual's clients rely on: paths, fields, bounds, messages, headers, defaults.
#include "tests/catch.h"
#include "tests/rest/desk.h"

using namespace assay;
using namespace assay::rest;
using nlohmann::json;

namespace {

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
