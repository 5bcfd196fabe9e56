// evaluate, and what follows a job, on a made-up engine.
#include <thread>

#include "tests/tools/evaluate_world.h"
#include "tools/schemas.h"

using namespace assay;
using namespace assay::tests;
using namespace std::chrono_literals;
using mcp::CallContext;
using mcp::Json;

TEST_CASE("a passing job is a report with every stage, durable before the engine went on") {
  EvaluateWorld world;
  world.engine.stages = {{.name = "compiled"}, {.name = "prepared"}, {.name = "validated"}};
  world.engine.conclusion.body = {{"summary", "Passed."}, {"trust", "verified"}};
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
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
  EvaluateWorld world;
  world.engine.stages = {{.name = "compiled", .status = job::StageStatus::failed}};
  world.engine.conclusion = {.verdict = job::Verdict::compile_failed,
                             .body = {{"summary", "no"}, {"detail", {{"log", "k.cu(1): error"}}}}};
  auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict") == "compile_failed");
  CHECK(result.structured.at("kernel_exec_result").at("compilation_error") ==
        "CUDA compilation failed: k.cu(1): error");

  world.engine.conclusion = {.verdict = job::Verdict::engine_fault, .body = {{"summary", "bug"}}};
  result = call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK(result.is_error);
  CHECK(result.structured.at("status") == "error");
  CHECK(result.structured.at("retryable") == true);
}

TEST_CASE("times that ended before their views are told without them") {
  EvaluateWorld world;
  world.engine.stages = {{.name = "timed",
                          .status = job::StageStatus::failed,
                          .body = {{"clock", "gpu"},
                                   {"note", "between two events"},
                                   {"samples_ns", {5000.0, 5100.0}},
                                   {"reference_samples_ns", {5000.0}},
                                   {"views", nullptr},
                                   {"reference_views", nullptr}}}};
  world.engine.conclusion = {.verdict = job::Verdict::timed_out};
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
  REQUIRE(result.structured.at("verdict") == "timed_out");
  REQUIRE(result.structured.at("timing").at("cold").at("runs") == 2);
}

TEST_CASE("what a GPU's times are held against is told, as the report's schema has it") {
  EvaluateWorld world;
  const Json aside = {
      {"clocks", {{"sm_mhz_median", 1900.5}, {"sm_mhz_highest", 1980.0}, {"ramped_ms", 0.0}}},
      {"floor", {{"bytes", 8}, {"ns", 1.5}, {"share_pct", nullptr}, {"must_bytes", 0}}},
      {"wall_clock",
       {{"result", "agrees"}, {"launches", 640}, {"wall_ns", 1.5e6}, {"events_ns", 1.4e6}}},
      {"neighbours", {{"asked", true}, {"visible", false}, {"computing", Json::array()}}}};
  auto& timed = world.engine.stages.emplace_back();
  timed.name = "timed";
  timed.body = {{"clock", "gpu"},
                {"note", "between two events"},
                {"trials_requested", 2},
                {"samples_ns", {5000.0, 5100.0}},
                {"cold_stop", {{"stopped_by", "interval"}, {"half_width_pct", 0.25}}}};
  timed.body.update(aside);
  Json arguments = evaluate_arguments();
  arguments["detail"] = "full";
  const auto result = call(tools::evaluate(world.jobs), arguments);
  const Json timing = result.structured.at("timing");
  CHECK(timing.at("cold").at("stopped_by") == "interval");
  CHECK(timing.at("cold").at("half_width_pct") == 0.25);
  for (const auto& [key, told] : aside.items()) CHECK(timing.at(key) == told);
  const auto violations =
      mcp::Schema(Json(tools::schema("report.json"))).check(Json(result.structured));
  INFO(mcp::describe(violations));
  CHECK(violations.empty());
}

TEST_CASE("runs may be added where a call names no number, and not where it does") {
  EvaluateWorld world;
  Json arguments = evaluate_arguments();
  for (const bool names_it : {false, true}) {
    arguments.erase("num_trials");
    if (names_it) arguments["num_trials"] = 100;
    CHECK_FALSE(call(tools::evaluate(world.jobs), arguments).is_error);
    const auto& options = world.engine.orders.back().request.at("options");
    CHECK(options.at("num_trials") == 100);
    CHECK(options.at("may_add_trials") == !names_it);
  }
}

TEST_CASE("what speaks against a kernel is told first, then what its trust rests on") {
  EvaluateWorld world;
  world.engine.conclusion.body = {{"summary", "Passed."}, {"trust", "suspect"}};
  auto& evidence = world.engine.conclusion.body["evidence"];
  for (int i = 0; i < 6; ++i) {
    evidence.push_back({{"check", "quiet_" + std::to_string(i)}, {"result", "agrees"}});
  }
  evidence.push_back({{"check", "lifted"}, {"result", "agrees"}});
  evidence.push_back({{"check", "outputs"}, {"result", "unknown"}});
  evidence.push_back({{"check", "remembers"}, {"result", "disagrees"}});
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
  std::vector<std::string> told;
  for (const auto& item : result.structured.at("evidence")) told.push_back(item.at("check"));
  CHECK(told == std::vector<std::string>{"remembers", "lifted", "outputs", "quiet_0", "quiet_1"});
}

TEST_CASE("an engine that dies leaves an interrupted job with the stages it had") {
  EvaluateWorld world;
  world.engine.stages = {{.name = "compiled"}};
  world.engine.conclusion = {
      .verdict = job::Verdict::engine_fault, .body = {{"summary", "gone"}}, .interrupted = true};
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
  CHECK(result.is_error);
  CHECK(result.structured.at("state") == "interrupted");
  CHECK(result.structured.at("stages").size() == 2);
}

TEST_CASE("a bad contract is refused with a pointer per violation and makes no job") {
  EvaluateWorld world;
  Json arguments = evaluate_arguments();
  arguments["kernel"]["io"]["launch"]["grid"]["x"] = 0;
  arguments["kernel"]["io"]["launch"]["block"]["x"] = 2048;
  arguments["kernel"]["io"]["args"][0]["tensor_spec"]["shape"] = {1000000, 1000000};
  const auto result = call(tools::evaluate(world.jobs), arguments);
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
  EvaluateWorld world;
  Json arguments = evaluate_arguments();
  arguments["kernel"].erase("io");
  CHECK(call(tools::evaluate(world.jobs), arguments).is_error);
  arguments = evaluate_arguments();
  arguments["kernel"]["source_code"] = "  \n";
  CHECK(call(tools::evaluate(world.jobs), arguments).text.find("/kernel/source_code") !=
        std::string::npos);
  arguments = evaluate_arguments();
  arguments["kernel"]["metadata"] = {
      {"compiler_options", {"-DN=1", "-I/etc", "--pre-include=/etc/passwd"}}};
  const auto result = call(tools::evaluate(world.jobs), arguments);
  CHECK(result.text.find("/kernel/metadata/compiler_options/1") != std::string::npos);
  CHECK(result.text.find("/kernel/metadata/compiler_options/2") != std::string::npos);
  CHECK(result.text.find("compiler_options/0") == std::string::npos);
}

TEST_CASE("wait_s returns the unfinished job; get_job follows it, cancel_job ends it") {
  EvaluateWorld world;
  world.engine.stages = {{.name = "compiled"}};
  world.engine.hangs = true;
  Json arguments = evaluate_arguments();
  arguments["wait_s"] = 0.05;
  const auto first = call(tools::evaluate(world.jobs), arguments);
  CHECK_FALSE(first.is_error);
  CHECK(first.structured.at("verdict").is_null());
  const std::string job_id = first.structured.at("job_id");
  const auto seen = call(tools::get_job(world.jobs), {{"job_id", job_id}});
  CHECK(seen.structured.at("stage") == "compiled");
  CHECK(seen.structured.at("state") == "validating");
  const auto end = call(tools::cancel_job(world.jobs), {{"job_id", job_id}});
  CHECK(end.structured.at("verdict") == "cancelled");
  CHECK(end.structured.at("state") == "cancelled");
}

TEST_CASE("wait_s counts from when the call came, not from when a thread was free for it") {
  EvaluateWorld world;
  world.engine.hangs = true;
  Json arguments = evaluate_arguments();
  arguments["wait_s"] = 3600;
  // It would hang here otherwise.
  const auto first =
      call(tools::evaluate(world.jobs), arguments,
           {.arrived = std::chrono::steady_clock::now() - std::chrono::seconds(3600)});
  CHECK(first.structured.at("verdict").is_null());
}

TEST_CASE("a call that finds no place to wait answers with the job as it stands") {
  EvaluateWorld world;
  world.engine.hangs = true;
  Json arguments = evaluate_arguments();
  arguments["wait_s"] = 3600;
  const auto first = call(tools::evaluate(world.jobs), arguments,
                          {.step_aside = [] { return std::shared_ptr<void>(); }});
  CHECK_FALSE(first.is_error);
  CHECK(first.structured.at("verdict").is_null());
}

TEST_CASE("only a call that waits asks for a place, and gives it back") {
  EvaluateWorld world;
  int asked = 0;
  std::weak_ptr<void> place;
  const CallContext context{.step_aside = [&] {
    ++asked;
    const std::shared_ptr<void> handle = std::make_shared<int>(0);
    place = handle;
    return handle;
  }};
  const auto ended = call(tools::evaluate(world.jobs), evaluate_arguments(), context);
  CHECK(ended.structured.at("verdict") == "passed");
  CHECK(asked == 1);
  CHECK(place.expired());
  const Json named = {{"job_id", ended.structured.at("job_id")}};
  call(tools::get_job(world.jobs), named, context);
  CHECK(asked == 1);
}

TEST_CASE("cancelling the call cancels the job it made") {
  EvaluateWorld world;
  world.engine.hangs = true;
  std::stop_source source;
  CallContext context{.stop = source.get_token()};
  std::jthread canceller([&] {
    std::this_thread::sleep_for(30ms);
    source.request_stop();
  });
  call(tools::evaluate(world.jobs), evaluate_arguments(), context);
  const auto jobs = world.jobs.recent("local", 1);
  REQUIRE(jobs.size() == 1);
  const auto record =
      world.jobs.wait(jobs[0].id, "local", std::chrono::steady_clock::now() + 5s, {}, {});
  CHECK(record->verdict == job::Verdict::cancelled);
}

TEST_CASE("the first progress event names the job") {
  EvaluateWorld world;
  world.engine.stages = {{.name = "compiled"}};
  std::vector<std::string> messages;
  CallContext context;
  context.progress_sink = [&](const mcp::Progress& progress) {
    messages.push_back(progress.message);
  };
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments(), context);
  REQUIRE_FALSE(messages.empty());
  CHECK(messages[0].find(result.structured.at("job_id").get<std::string>()) != std::string::npos);
}

TEST_CASE("a job is its principal's alone") {
  EvaluateWorld world;
  const auto result = call(tools::evaluate(world.jobs), evaluate_arguments());
  const std::string job_id = result.structured.at("job_id");
  const auto other =
      call(tools::get_job(world.jobs), {{"job_id", job_id}}, {.principal = "someone else"});
  CHECK(other.is_error);
  CHECK(other.structured.at("state") == "not_found");
  CHECK(call(tools::get_job(world.jobs), Json::object(), {.principal = "someone else"})
            .structured.at("jobs")
            .empty());
}

TEST_CASE("isolation below what the call asks for is refused before a job is made") {
  EvaluateWorld world;
  Json arguments = evaluate_arguments();
  arguments["min_isolation"] = "L2";
  const auto result = call(tools::evaluate(world.jobs), arguments);
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

TEST_CASE("who polls get_job_status finds the state, the time and an error that is a text") {
  EvaluateWorld world;
  world.engine.conclusion.body = {{"summary", "Passed."}};
  const auto done = call(tools::evaluate(world.jobs), evaluate_arguments());
  const auto tool = tools::get_job(world.jobs);
  const auto& alias = tool.aliases.front();
  REQUIRE(alias.name == "get_job_status");
  const auto poll = [&](const std::string& id) {
    auto result = call(tool, alias.adapt({{"request", {{"job_id", id}}}}));
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
      poll(call(tools::evaluate(world.jobs), evaluate_arguments()).structured.at("job_id"));
  CHECK(failed.at("status") == failed.at("state"));
  CHECK(failed.at("error") == "bug");
}

TEST_CASE("a report of until validated has what clients of validate_kernel look for") {
  EvaluateWorld world;
  world.engine.stages = {{.name = "compiled", .status = job::StageStatus::failed}};
  world.engine.conclusion = {.verdict = job::Verdict::compile_failed, .body = {{"summary", "no"}}};
  Json arguments = evaluate_arguments();
  arguments["until"] = "validated";
  auto told = call(tools::evaluate(world.jobs), arguments).structured;
  CHECK(told.at("compilation_error") == "CUDA compilation failed: no");
  CHECK(told.at("validation_error").is_null());
  CHECK(told.at("metadata").is_object());
  world.engine.stages = {{.name = "compiled"},
                         {.name = "validated", .status = job::StageStatus::failed}};
  world.engine.conclusion = {.verdict = job::Verdict::wrong_output, .body = {{"summary", "off"}}};
  told = call(tools::evaluate(world.jobs), arguments).structured;
  CHECK(told.at("compilation_error").is_null());
  CHECK(told.at("validation_error") == "off");
}

TEST_CASE("a call that says nothing is carried out with the defaults that its schema tells") {
  for (const char* tool : {"evaluate", "compare"}) {
    INFO(tool);
    EvaluateWorld world;
    Json arguments = evaluate_arguments();
    const bool compares = std::string_view(tool) == "compare";
    if (compares)
      arguments = {{"ref_kernel", arguments["kernel"]}, {"custom_kernel", arguments["kernel"]}};
    (void)call(compares ? tools::compare(world.jobs) : tools::evaluate(world.jobs), arguments);
    REQUIRE(world.engine.orders.size() == 1);
    const Json options = Json(world.engine.orders.back().request.at("options"));
    const Json schema = Json(tools::schema(std::string(tool) + ".input.json"));
    int compared = 0;
    for (const auto& [name, property] : schema.at("properties").items()) {
      if (!property.contains("default") || !options.contains(name)) continue;
      INFO(name);
      CHECK(options.at(name) == property.at("default"));
      ++compared;
    }
    CHECK(compared >= 7);
  }
}
