// What is told of a job, to whom, and until when.
#include "tests/catch.h"
#include "tests/rest/desk.h"

using namespace assay;
using namespace assay::rest;
using nlohmann::json;

namespace {

std::vector<std::string> names(const json& object) {
  std::vector<std::string> all;
  for (const auto& [name, value] : object.items()) all.push_back(name);
  return all;
}

}  // namespace

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
