// The tools on a fake engine and a real journal: no process, no compiler.
#include <algorithm>
#include <filesystem>
#include <thread>

#include "engine/job/kind.h"
#include "mcp/schema.h"
#include "tests/catch.h"
#include "tools/job_resources.h"
#include "tools/schemas.h"
#include "tools/tools.h"

using namespace assay;
using namespace std::chrono_literals;
using mcp::CallContext;
using mcp::Json;
using mcp::ToolResult;

namespace {

// Tells the stages it is given, then concludes; waits for a stop if told to hang.
class FakeEngine final : public node::Engine {
 public:
  std::vector<job::StageRecord> stages{};
  node::Conclusion conclusion{.verdict = job::Verdict::passed};
  bool hangs = false;
  std::vector<node::Order> orders{};

  node::Conclusion run(const node::Order& order,
                       const std::function<void(const node::StageEvent&)>& on_stage,
                       const std::stop_token& stop) override {
    orders.push_back(order);
    for (const auto& stage : stages) on_stage({.record = stage});
    while (hangs && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    if (stop.stop_requested()) return {.verdict = job::Verdict::cancelled};
    return conclusion;
  }
  Json capabilities() override {
    return {{"version", "test"},
            {"devices", Json::array({{{"name", "emulator"}, {"kind", "emulator"}}})},
            {"kernel_types", Json::object()},
            {"toolkit", Json::object()},
            {"isolation", {{"level", "L1"}, {"not_in_force", Json::array()}}}};
  }
};

struct World {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / job::new_job_id();
  journal::Journal journal{folder, {.kinds = {job::kernel_kind()}}};
  journal::ArtifactStore artifacts{folder / "artifacts", 1 << 20, {}};
  FakeEngine engine{};
  tools::Jobs jobs{journal, artifacts, engine, [](const std::string&) {}};

  ~World() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  ToolResult call(const mcp::Tool& tool, const Json& arguments, CallContext context = {}) {
    // What the server does before it calls a tool.
    const auto violations = mcp::Schema(Json(tool.input_schema)).check(arguments);
    INFO(mcp::describe(violations));
    REQUIRE(violations.empty());
    ToolResult result = tool.run(arguments, context);
    if (!result.is_error) {
      const auto wrong = mcp::Schema(Json(tool.output_schema)).check(Json(result.structured));
      INFO(mcp::describe(wrong));
      CHECK(wrong.empty());
    }
    return result;
  }
};

Json contract() {
  return Json::parse(R"({"args": [
      {"name": "x", "type": "tensor", "tensor_spec": {"shape": [8], "dtype": "float32", "init": {"kind": "randn", "seed": 1}}},
      {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": [8], "dtype": "float32"}},
      {"name": "n", "type": "int", "value": 8}],
    "launch": {"grid": {"x": 1}, "block": {"x": 32}}})");
}

Json evaluate_arguments() {
  return {{"kernel",
           {{"source_code", "__global__ void k(const float* x, float* y, int n) {}"},
            {"kernel_type", "cuda"},
            {"io", contract()}}}};
}

}  // namespace

TEST_CASE("a passing job is a report with every stage, durable before the engine went on") {
  World world;
  world.engine.stages = {{.name = "compiled"}, {.name = "prepared"}, {.name = "validated"}};
  world.engine.conclusion.body = {{"summary", "Passed."}, {"trust", "verified"}};
  const auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict") == "passed");
  CHECK(result.structured.at("status") == "success");
  CHECK(result.structured.at("state") == "completed");
  CHECK(result.structured.at("trust") == "verified");
  CHECK(result.structured.at("stages").size() == 4);  // received, and the engine's three
  CHECK(result.structured.at("kernel_exec_result").at("compiled") == true);
  CHECK(result.structured.at("kernel_exec_result").at("correctness") == true);
}

TEST_CASE("a kernel's failure is no error of the call; an engine fault is") {
  World world;
  world.engine.stages = {{.name = "compiled", .status = job::StageStatus::failed}};
  world.engine.conclusion = {.verdict = job::Verdict::compile_failed,
                             .body = {{"summary", "no"}, {"detail", {{"log", "k.cu(1): error"}}}}};
  auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict") == "compile_failed");
  CHECK(result.structured.at("kernel_exec_result").at("compilation_error") ==
        "CUDA compilation failed: k.cu(1): error");

  world.engine.conclusion = {.verdict = job::Verdict::engine_fault, .body = {{"summary", "bug"}}};
  result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK(result.is_error);
  CHECK(result.structured.at("status") == "error");
  CHECK(result.structured.at("retryable") == true);
}

TEST_CASE("an engine that dies leaves an interrupted job with the stages it had") {
  World world;
  world.engine.stages = {{.name = "compiled"}};
  world.engine.conclusion = {
      .verdict = job::Verdict::engine_fault, .body = {{"summary", "gone"}}, .interrupted = true};
  const auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK(result.is_error);
  CHECK(result.structured.at("state") == "interrupted");
  CHECK(result.structured.at("stages").size() == 2);
}

TEST_CASE("a bad contract is refused with a pointer per violation and makes no job") {
  World world;
  Json arguments = evaluate_arguments();
  arguments["kernel"]["io"]["launch"]["grid"]["x"] = 0;
  arguments["kernel"]["io"]["launch"]["block"]["x"] = 2048;
  arguments["kernel"]["io"]["args"][0]["tensor_spec"]["shape"] = {1000000, 1000000};
  const auto result = world.call(tools::evaluate(world.jobs), arguments);
  CHECK(result.is_error);
  CHECK(result.structured.at("status") == "client_error");
  const std::string text = result.text;
  CHECK(text.find("/kernel/io/launch/grid") != std::string::npos);
  CHECK(text.find("/kernel/io/launch/block") != std::string::npos);
  CHECK(text.find("/kernel/io/args/0/tensor_spec") != std::string::npos);
  CHECK(world.engine.orders.empty());
  CHECK(world.jobs.recent("local", 10).empty());
}

TEST_CASE("cuda without a contract, an empty source and a forbidden option are refused") {
  World world;
  Json arguments = evaluate_arguments();
  arguments["kernel"].erase("io");
  CHECK(world.call(tools::evaluate(world.jobs), arguments).is_error);
  arguments = evaluate_arguments();
  arguments["kernel"]["source_code"] = "  \n";
  CHECK(world.call(tools::evaluate(world.jobs), arguments).text.find("/kernel/source_code") !=
        std::string::npos);
  arguments = evaluate_arguments();
  arguments["kernel"]["metadata"] = {
      {"compiler_options", {"-DN=1", "-I/etc", "--pre-include=/etc/passwd"}}};
  const auto result = world.call(tools::evaluate(world.jobs), arguments);
  CHECK(result.text.find("/kernel/metadata/compiler_options/1") != std::string::npos);
  CHECK(result.text.find("/kernel/metadata/compiler_options/2") != std::string::npos);
  CHECK(result.text.find("compiler_options/0") == std::string::npos);
}

TEST_CASE("wait_s returns the unfinished job; get_job follows it, cancel_job ends it") {
  World world;
  world.engine.stages = {{.name = "compiled"}};
  world.engine.hangs = true;
  Json arguments = evaluate_arguments();
  arguments["wait_s"] = 0.05;
  const auto first = world.call(tools::evaluate(world.jobs), arguments);
  CHECK_FALSE(first.is_error);
  CHECK(first.structured.at("verdict").is_null());
  const std::string job_id = first.structured.at("job_id");
  const auto seen = world.call(tools::get_job(world.jobs), {{"job_id", job_id}});
  CHECK(seen.structured.at("stage") == "compiled");
  CHECK(seen.structured.at("state") == "validating");
  const auto end = world.call(tools::cancel_job(world.jobs), {{"job_id", job_id}});
  CHECK(end.structured.at("verdict") == "cancelled");
  CHECK(end.structured.at("state") == "cancelled");
}

TEST_CASE("wait_s counts from when the call came, not from when a thread was free for it") {
  World world;
  world.engine.hangs = true;
  Json arguments = evaluate_arguments();
  arguments["wait_s"] = 3600;
  // It would hang here otherwise.
  const auto first =
      world.call(tools::evaluate(world.jobs), arguments,
                 {.arrived = std::chrono::steady_clock::now() - std::chrono::seconds(3600)});
  CHECK(first.structured.at("verdict").is_null());
}

TEST_CASE("a call that finds no place to wait answers with the job as it stands") {
  World world;
  world.engine.hangs = true;
  Json arguments = evaluate_arguments();
  arguments["wait_s"] = 3600;
  const auto first = world.call(tools::evaluate(world.jobs), arguments,
                                {.step_aside = [] { return std::shared_ptr<void>(); }});
  CHECK_FALSE(first.is_error);
  CHECK(first.structured.at("verdict").is_null());
}

TEST_CASE("only a call that waits asks for a place, and gives it back") {
  World world;
  int asked = 0;
  std::weak_ptr<void> place;
  const CallContext context{.step_aside = [&] {
    ++asked;
    const std::shared_ptr<void> handle = std::make_shared<int>(0);
    place = handle;
    return handle;
  }};
  const auto ended = world.call(tools::evaluate(world.jobs), evaluate_arguments(), context);
  CHECK(ended.structured.at("verdict") == "passed");
  CHECK(asked == 1);
  CHECK(place.expired());
  const Json named = {{"job_id", ended.structured.at("job_id")}};
  world.call(tools::get_job(world.jobs), named, context);
  CHECK(asked == 1);
}

TEST_CASE("cancelling the call cancels the job it made") {
  World world;
  world.engine.hangs = true;
  std::stop_source source;
  CallContext context{.stop = source.get_token()};
  std::jthread canceller([&] {
    std::this_thread::sleep_for(30ms);
    source.request_stop();
  });
  world.call(tools::evaluate(world.jobs), evaluate_arguments(), context);
  const auto jobs = world.jobs.recent("local", 1);
  REQUIRE(jobs.size() == 1);
  const auto record =
      world.jobs.wait(jobs[0].id, "local", std::chrono::steady_clock::now() + 5s, {}, {});
  CHECK(record->verdict == job::Verdict::cancelled);
}

TEST_CASE("the first progress event names the job") {
  World world;
  world.engine.stages = {{.name = "compiled"}};
  std::vector<std::string> messages;
  CallContext context;
  context.progress_sink = [&](const mcp::Progress& progress) {
    messages.push_back(progress.message);
  };
  const auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments(), context);
  REQUIRE_FALSE(messages.empty());
  CHECK(messages[0].find(result.structured.at("job_id").get<std::string>()) != std::string::npos);
}

TEST_CASE("a job is its principal's alone") {
  World world;
  const auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
  const std::string job_id = result.structured.at("job_id");
  const auto other =
      world.call(tools::get_job(world.jobs), {{"job_id", job_id}}, {.principal = "someone else"});
  CHECK(other.is_error);
  CHECK(other.structured.at("state") == "not_found");
  CHECK(world.call(tools::get_job(world.jobs), Json::object(), {.principal = "someone else"})
            .structured.at("jobs")
            .empty());
}

TEST_CASE("isolation below what the call asks for is refused before a job is made") {
  World world;
  Json arguments = evaluate_arguments();
  arguments["min_isolation"] = "L2";
  const auto result = world.call(tools::evaluate(world.jobs), arguments);
  CHECK(result.is_error);
  CHECK(result.text.find("/min_isolation") != std::string::npos);
  CHECK(world.engine.orders.empty());
}

TEST_CASE("the schemas' enumerations are the code's") {
  const Json report = Json(tools::schema("report.json"));
  for (const auto& word : report.at("properties").at("verdict").at("enum")) {
    if (word.is_string()) CHECK(job::verdict_from(word.get<std::string>()));
  }
  CHECK(report.at("properties").at("verdict").at("enum").size() ==
        job::kernel_kind().verdicts.size() + 1);
  for (const auto& word : report.at("properties").at("state").at("enum")) {
    if (word != "not_found") CHECK(job::state_from(word.get<std::string>()));
  }
}

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
        World world;
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
        const auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
        CHECK(bytes_of(result) <= 6000);
        CHECK(lines_of(result.text) <= 6);
        CHECK(result.text.find("\njob_id: ") != std::string::npos);
        if (errors == 40) CHECK(result.text.find(" more diagnostics)") != std::string::npos);
        // Nothing is lost: the whole of it is there for who asks.
        Json whole = {{"job_id", result.structured.at("job_id")}, {"detail", "full"}};
        CHECK(world.call(tools::get_job(world.jobs), whole).structured.at("summary") ==
              said + "\n" + said);
      }
    }
  }
}

TEST_CASE("what an answer leaves out is linked, and what is linked can be read") {
  World world;
  job::StageRecord timed{.name = "timed"};
  timed.body = {{"clock", "emulated"}, {"note", "no GPU"}, {"samples_ns", {1.0, 2.0}}};
  world.engine.stages = {{.name = "compiled"}, timed};
  const auto result = world.call(tools::evaluate(world.jobs), evaluate_arguments());
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
  World world;
  world.engine.conclusion.body = {{"summary", std::string(3000, 's')}};
  for (int i = 0; i < 60; ++i) (void)world.call(tools::evaluate(world.jobs), evaluate_arguments());
  const auto tool = tools::get_job(world.jobs);
  const auto brief = world.call(tool, {{"limit", 50}});
  CHECK(bytes_of(brief) <= 6000);
  CHECK(lines_of(brief.text) <= 6);
  CHECK(brief.structured.at("jobs_total") == 50);
  CHECK(brief.structured.at("jobs").size() >= 10);
  CHECK(brief.structured.at("older") == true);
  const auto whole = world.call(tool, {{"limit", 50}, {"detail", "full"}});
  CHECK(whole.structured.at("jobs").size() == 50);
  CHECK_FALSE(whole.structured.contains("jobs_total"));
}

TEST_CASE("who polls get_job_status finds the state, the time and an error that is a text") {
  World world;
  world.engine.conclusion.body = {{"summary", "Passed."}};
  const auto done = world.call(tools::evaluate(world.jobs), evaluate_arguments());
  const auto tool = tools::get_job(world.jobs);
  const auto& alias = tool.aliases.front();
  REQUIRE(alias.name == "get_job_status");
  const auto poll = [&](const std::string& id) {
    auto result = world.call(tool, alias.adapt({{"request", {{"job_id", id}}}}));
    alias.present(result);
    return result.structured;
  };
  const auto passed = poll(done.structured.at("job_id"));
  CHECK(passed.at("status") == "completed");
  CHECK(passed.at("created_at").get<std::string>().size() == 20);
  CHECK(passed.at("error").is_null());
  const auto unknown = poll("nothing");
  CHECK(unknown.at("status") == "not_found");
  CHECK(unknown.at("error") == "Job nothing not found");
  world.engine.conclusion = {.verdict = job::Verdict::engine_fault, .body = {{"summary", "bug"}}};
  const auto failed =
      poll(world.call(tools::evaluate(world.jobs), evaluate_arguments()).structured.at("job_id"));
  CHECK(failed.at("status") == failed.at("state"));
  CHECK(failed.at("error") == "bug");
}

TEST_CASE("a report of until validated has what clients of validate_kernel look for") {
  World world;
  world.engine.stages = {{.name = "compiled", .status = job::StageStatus::failed}};
  world.engine.conclusion = {.verdict = job::Verdict::compile_failed, .body = {{"summary", "no"}}};
  Json arguments = evaluate_arguments();
  arguments["until"] = "validated";
  auto told = world.call(tools::evaluate(world.jobs), arguments).structured;
  CHECK(told.at("compilation_error") == "CUDA compilation failed: no");
  CHECK(told.at("validation_error").is_null());
  CHECK(told.at("metadata").is_object());
  world.engine.stages = {{.name = "compiled"},
                         {.name = "validated", .status = job::StageStatus::failed}};
  world.engine.conclusion = {.verdict = job::Verdict::wrong_output, .body = {{"summary", "off"}}};
  told = world.call(tools::evaluate(world.jobs), arguments).structured;
  CHECK(told.at("compilation_error").is_null());
  CHECK(told.at("validation_error") == "off");
}
