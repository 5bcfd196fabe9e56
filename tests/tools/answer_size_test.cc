// An answer is short, and what it leaves out is somewhere to be read.
#include <algorithm>

#include "tests/tools/evaluate_world.h"
#include "tools/job_resources.h"

using namespace assay;
using namespace assay::tests;
using mcp::Json;
using mcp::ToolResult;

namespace {

std::size_t lines_of(const std::string& text) {
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t bytes_of(const ToolResult& result) {
  return result.text.size() + result.structured.dump().size();
}

}  // namespace

TEST_CASE("whatever a compiler says, the answer is short and its text has six lines at most") {
  for (const int errors : {0, 1, 2, 3, 40}) {
    for (const std::size_t bytes : {10, 5000}) {
      for (const bool compiles : {true, false}) {
        CAPTURE(errors, bytes, compiles);
        EvaluateWorld world;
        const std::string said(bytes, 'x');
        Json diagnostics = Json::array();
        for (int i = 0; i < errors; ++i)
          diagnostics.push_back({{"severity", compiles ? "warning" : "error"},
                                 {"file", "kernel.cu"},
                                 {"line", i},
                                 {"message", said},
                                 {"excerpt", said + "\n" + said}});
        const Json warnings = Json::array({{{"message", said + "\n" + said}}, {{"message", "b"}}});
        const Json detail = {{"log", said + "\n" + said}, {"diagnostics", diagnostics}};
        job::StageRecord stage{.name = "compiled"};
        stage.body = compiles ? Json{{"diagnostics", diagnostics}} : Json{{"detail", detail}};
        if (!compiles) stage.status = job::StageStatus::failed;
        world.engine.stages = {stage};
        world.engine.conclusion = {
            .verdict = compiles ? job::Verdict::passed : job::Verdict::compile_failed,
            .body = {{"summary", said + "\n" + said}, {"detail", detail}, {"warnings", warnings}}};
        const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
        CHECK(bytes_of(result) <= 6000);
        CHECK(lines_of(result.text) <= 6);
        CHECK(result.text.find("\njob_id: ") != std::string::npos);
        if (errors == 40) CHECK(result.text.find(" more diagnostics)") != std::string::npos);
        // Nothing is lost: the whole of it is there for who asks.
        Json whole = {{"job_id", result.structured.at("job_id")}, {"detail", "full"}};
        CHECK(call(tools::get_job(world.jobs), whole).structured.at("summary") ==
              said + "\n" + said);
      }
    }
  }
}

TEST_CASE("what an answer leaves out is linked, and what is linked can be read") {
  EvaluateWorld world;
  job::StageRecord timed{.name = "timed"};
  timed.body = {{"clock", "emulated"}, {"note", "no GPU"}, {"samples_ns", {1.0, 2.0}}};
  world.engine.stages = {{.name = "compiled"}, timed};
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
  std::vector<std::string> names;
  const auto resources = tools::job_resources(world.jobs);
  for (const auto& link : result.links) {
    names.push_back(link.name);
    const auto read = resources.read(link.uri, {});
    REQUIRE(read);
    CHECK(read->mime_type == link.mime_type);
  }
  CHECK(names == std::vector<std::string>{"samples", "report"});
  for (const auto& named : result.structured.at("artifacts")) {
    CAPTURE(named.dump());
    CHECK(resources.read(named.at("uri"), {}));
  }
  CHECK(result.structured.at("artifacts").size() == 3);  // source, samples, plot.svg
}

TEST_CASE("a list of many jobs is short, says how many there are, and is whole on demand") {
  EvaluateWorld world;
  world.engine.conclusion.body = {{"summary", std::string(3000, 's')}};
  for (int i = 0; i < 60; ++i) (void)call(tools::evaluate(world.jobs), evaluate_arguments());
  const auto tool = tools::get_job(world.jobs);
  const auto brief = call(tool, {{"limit", 50}});
  CHECK(bytes_of(brief) <= 6000);
  CHECK(lines_of(brief.text) <= 6);
  CHECK(brief.structured.at("jobs_total") == 50);
  CHECK(brief.structured.at("jobs").size() >= 10);
  CHECK(brief.structured.at("older") == true);
  const auto whole = call(tool, {{"limit", 50}, {"detail", "full"}});
  CHECK(whole.structured.at("jobs").size() == 50);
  CHECK_FALSE(whole.structured.contains("jobs_total"));
}
