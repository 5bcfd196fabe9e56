// What people and probes see of a device that does not work, on an engine that says so.
#include "tools/health.h"

#include "tests/tools/world.h"
#include "tools/server_stats.h"

using namespace assay;
using mcp::Json;
using tests::World;

namespace {

// Two GPUs in the conditions it is told; counts how often it is asked.
class DoubtedEngine final : public node::Engine {
 public:
  std::vector<std::string> conditions{"trusted", "trusted"};
  node::Conclusion conclusion{.verdict = job::Verdict::passed, .body = {{"summary", "done"}}};
  int asked = 0;
  bool silent = false;

  node::Conclusion run(const node::Order&, const std::function<void(const node::StageEvent&)>&,
                       const std::stop_token&) override {
    return conclusion;
  }
  Json capabilities() override {
    if (silent) throw std::runtime_error("the engine is gone");
    ++asked;
    Json devices = Json::array();
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      devices.push_back({{"name", "gpu:" + std::to_string(i)},
                         {"kind", "gpu"},
                         {"index", i},
                         {"model", "A GPU"},
                         {"jobs", {{"running", i}, {"served", 10 + i}}},
                         {"health", {{"condition", conditions[i]}, {"why", nullptr}}}});
    }
    return {{"devices", devices},
            {"kernel_types", {{"cuda", {{"supported", true}, {"runs_on", "gpu:0"}}}}},
            {"isolation", {{"level", "L2"}}}};
  }
};

struct Watched : World<DoubtedEngine> {
  void run_a_job() {
    const auto id = jobs.submit(job::kernel_kind(), {{"kernel", Json::object()}}, "anna");
    const auto record =
        jobs.wait(id, "anna", std::chrono::steady_clock::now() + std::chrono::seconds(20), {}, {});
    REQUIRE(record.has_value());
    REQUIRE(job::is_final(record->state));
  }
};

}  // namespace

TEST_CASE("a GPU in quarantine is not available, and no problem while another works") {
  Watched watched;
  watched.engine.conditions = {"quarantined", "doubtful"};
  const auto health = tools::health(watched.jobs);
  CHECK(health.healthy);
  CHECK(health.told.at("gpu_manager").at("available_gpus") == Json::array({1}));
  CHECK(health.told.at("devices").at(0).at("condition") == "quarantined");
}

TEST_CASE("how many jobs a GPU has is told of the moment, and never kept") {
  Watched watched;
  const auto health = tools::health(watched.jobs);
  CHECK(health.told.at("devices").at(1).at("jobs").at("served") == 11);
  const Json kept = watched.jobs.capabilities(false);
  for (const auto& device : kept.at("devices")) {
    CHECK_FALSE(device.contains("jobs"));
  }
  CHECK(watched.jobs.capabilities(true).at("devices").at(0).contains("jobs"));
}

TEST_CASE("a server whose GPUs are all in quarantine is unhealthy and says why") {
  Watched watched;
  watched.engine.conditions = {"quarantined", "quarantined"};
  const auto health = tools::health(watched.jobs);
  CHECK_FALSE(health.healthy);
  CHECK(health.told.at("error").get<std::string>().find("quarantine") != std::string::npos);
  watched.engine.conditions.clear();  // none at all is another thing
  CHECK(tools::health(watched.jobs).healthy);
}

TEST_CASE("statistics tell a device's condition anew once a job has failed there, until it works") {
  Watched watched;
  const auto condition = [&] {
    return tools::server_stats(watched.jobs).at("gpu_info").at(0).at("condition");
  };
  CHECK(condition() == "trusted");
  watched.run_a_job();
  CHECK(condition() == "trusted");
  CHECK(watched.engine.asked == 1);  // nothing happened that could change it
  watched.engine.conditions[0] = "doubtful";
  watched.engine.conclusion = {.verdict = job::Verdict::engine_fault, .body = {{"summary", "no"}}};
  watched.run_a_job();
  CHECK(condition() == "doubtful");
  watched.engine.conditions[0] = "quarantined";
  watched.engine.conclusion = {.verdict = job::Verdict::passed, .body = {{"summary", "done"}}};
  watched.run_a_job();
  CHECK(condition() == "quarantined");
  watched.engine.conditions[0] = "trusted";
  watched.run_a_job();
  CHECK(condition() == "trusted");
  const int asked = watched.engine.asked;
  watched.run_a_job();
  CHECK(condition() == "trusted");
  CHECK(watched.engine.asked == asked);
}

TEST_CASE("what was known of the devices is told while the engine does not answer") {
  Watched watched;
  CHECK(watched.jobs.capabilities(false).at("devices").size() == 2);
  watched.engine.conclusion = {.verdict = job::Verdict::engine_fault, .body = {{"summary", "no"}}};
  watched.run_a_job();
  watched.engine.silent = true;
  CHECK(watched.jobs.capabilities(false).at("devices").size() == 2);
  CHECK_THROWS(watched.jobs.capabilities(true));
}

TEST_CASE("who shows no token hears kinds and names, no counts and no causes") {
  Watched watched;
  watched.run_a_job();
  const auto all = tools::health(watched.jobs);
  CHECK(all.told.contains("job_stats"));
  CHECK(all.told.contains("active_jobs"));
  const auto few = tools::health(watched.jobs, tools::Telling::names);
  CHECK(few.healthy);
  CHECK_FALSE(few.told.contains("job_stats"));
  CHECK_FALSE(few.told.contains("active_jobs"));
  CHECK(few.told.at("devices") == all.told.at("devices"));

  std::filesystem::remove(watched.folder.path() / "journal.db");
  const auto whole = tools::health(watched.jobs);
  CHECK(whole.told.at("error").get<std::string>().find(watched.folder.path().string()) !=
        std::string::npos);
  const auto cut = tools::health(watched.jobs, tools::Telling::names);
  CHECK_FALSE(cut.healthy);
  CHECK(cut.told.at("error") == "the journal takes no jobs");
  CHECK(cut.told.dump().find(watched.folder.path().string()) == std::string::npos);
}
