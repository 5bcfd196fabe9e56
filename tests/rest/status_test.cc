// One table: how a call ends, for MCP and for REST. What the two tell of the same job may not
// differ.
#include "mcp/json_text.h"
#include "mcp/schema.h"
#include "tests/catch.h"
#include "tests/rest/desk.h"
#include "tools/tools.h"

using namespace assay;
using namespace assay::rest;
using job::Verdict;
using nlohmann::json;

namespace {

struct Outcome {
  bool is_error = false;   // MCP
  std::string envelope{};  // MCP's structuredContent.status
  int status = 0;          // REST
  std::string rest_envelope{};
};

// As the protocol layer calls a tool: what the schema refuses never reaches it.
mcp::ToolResult call(const mcp::Tool& tool, json arguments) {
  const mcp::Schema schema(json(tool.input_schema));
  if (auto violations = schema.check(arguments); !violations.empty())
    return {.structured = {{"status", "client_error"}}, .is_error = true};
  mcp::CallContext context;
  return tool.run(arguments, context);
}

mcp::Tool listed(Desk& desk, const std::string& name) {
  for (auto& tool : tools::all(desk.jobs))
    if (tool.name == name) return tool;
  throw std::logic_error("no tool " + name);
}

Outcome both(Desk& desk, const json& arguments) {
  const auto result = call(listed(desk, "evaluate"), arguments);
  const auto answer = desk.ask("POST", "/evaluate", arguments.dump());
  return {.is_error = result.is_error,
          .envelope = result.structured.value("status", ""),
          .status = answer.status,
          .rest_envelope = json::parse(answer.body).value("status", "")};
}

void check(const Outcome& seen, const Outcome& wanted) {
  CHECK(seen.is_error == wanted.is_error);
  CHECK(seen.envelope == wanted.envelope);
  CHECK(seen.status == wanted.status);
  CHECK(seen.rest_envelope == wanted.rest_envelope);
}

const Outcome kReport{false, "success", 200, "success"};
const Outcome kRefused{true, "client_error", 400, "client_error"};
const Outcome kFault{true, "error", 500, "error"};

}  // namespace

TEST_CASE("every verdict but an engine fault is a successful evaluation, for MCP and REST alike") {
  for (const Verdict verdict :
       {Verdict::passed, Verdict::compile_failed, Verdict::contract_invalid, Verdict::launch_failed,
        Verdict::wrong_output, Verdict::crashed, Verdict::timed_out, Verdict::out_of_memory,
        Verdict::unsupported, Verdict::cancelled, Verdict::engine_fault}) {
    INFO(job::name(verdict));
    Desk desk;
    desk.engine.conclusion = {.verdict = verdict, .body = {{"summary", "It ended."}}};
    check(both(desk, evaluation()), verdict == Verdict::engine_fault ? kFault : kReport);
  }
}

TEST_CASE("what the arguments alone decide is refused, and nothing runs") {
  struct Row {
    const char* what;
    std::function<void(json&)> spoil;
  };
  for (const Row& row : std::vector<Row>{
           {"mistyped", [](json& a) { a["num_trials"] = "many"; }},
           {"beyond its bound", [](json& a) { a["num_trials"] = 10'001; }},
           {"below its bound", [](json& a) { a["timeout"] = 1; }},
           {"grid 0", [](json& a) { a["kernel"]["io"]["launch"]["grid"]["x"] = 0; }},
           {"block 2048", [](json& a) { a["kernel"]["io"]["launch"]["block"]["x"] = 2048; }},
           {"10^12 elements",
            [](json& a) {
              a["kernel"]["io"]["args"][0]["tensor_spec"]["shape"] = {1'000'000, 1'000'000};
            }},
           {"no contract where one is mandatory", [](json& a) { a["kernel"].erase("io"); }},
           {"a kernel type nobody knows", [](json& a) { a["kernel"]["kernel_type"] = "metal"; }},
           {"a member the kernel does not have", [](json& a) { a["kernel"]["bogus"] = 1; }},
           {"no kernel", [](json& a) { a.erase("kernel"); }},
           {"a device that is not here", [](json& a) { a["device"] = "gpu:7"; }},
           {"more isolation than there is", [](json& a) { a["min_isolation"] = "L3"; }}}) {
    INFO(row.what);
    Desk desk;
    json arguments = evaluation();
    row.spoil(arguments);
    check(both(desk, arguments), kRefused);
    CHECK(desk.engine.requests.empty());
  }
}

TEST_CASE("a kernel type that needs what is missing is an answer, not an error") {
  Desk desk;
  json arguments = evaluation();
  arguments["kernel"]["kernel_type"] = "torch_cuda";
  check(both(desk, arguments), kReport);
}

TEST_CASE("a job that its engine left behind is a fault") {
  Desk desk;
  desk.engine.conclusion = {.verdict = Verdict::engine_fault,
                            .body = {{"summary", "The engine ended."}},
                            .interrupted = true};
  check(both(desk, evaluation()), kFault);
}

TEST_CASE("who has too many waiting already is asked to come again, and it is no fault") {
  Desk desk;
  desk.engine.conclusion = {
      .verdict = Verdict::cancelled,
      .body = {{"summary", "Not run."}, {"detail", {{"cause", "too_many_waiting"}}}}};
  check(both(desk, evaluation()), {false, "success", 503, "success"});
  const auto answer = desk.ask("POST", "/evaluate", evaluation().dump());
  CHECK(std::any_of(answer.fields.begin(), answer.fields.end(),
                    [](const auto& field) { return field.name == "Retry-After"; }));
}

TEST_CASE("a job that has not ended within the wait is told as it stands") {
  Desk desk;
  desk.engine.hangs = true;
  json arguments = evaluation();
  arguments["wait_s"] = 0;
  const auto result = call(listed(desk, "evaluate"), arguments);
  CHECK_FALSE(result.is_error);
  CHECK(result.structured.at("verdict").is_null());
  const auto answer = desk.ask("POST", "/evaluate?wait=0", evaluation().dump());
  CHECK(answer.status == 202);
  const json body = json::parse(answer.body);
  CHECK(body.at("verdict").is_null());
  CHECK(body.at("status") == "success");
  const auto& location = answer.fields.back();
  CHECK(location.name == "Location");
  CHECK(location.value == "/job/" + body.at("job_id").get<std::string>());
  CHECK(desk.get(location.value).at("job_id") == body.at("job_id"));
  desk.engine.hangs = false;
}

TEST_CASE("who finds no place to wait is told where to ask again, or nothing is run") {
  Desk desk;
  desk.engine.hangs = true;
  const auto ask = [&desk](const std::string& query) {
    return desk.site.answer({.request = {.method = "POST",
                                         .path = "/evaluate",
                                         .query = query,
                                         .body = evaluation().dump()},
                             .principal = "local",
                             .step_aside = [] { return std::shared_ptr<void>(); }});
  };
  const auto blocking = ask("");
  CHECK(blocking.status == 503);
  CHECK(desk.jobs.recent("local", 10).empty());
  CHECK(ask("wait=600").status == 202);
  CHECK(ask("wait=0").status == 202);
}

TEST_CASE("a job that another server runs is not cancelled here, and has no verdict by that") {
  Desk desk;
  desk.engine.hangs = true;
  const std::string job_id =
      json::parse(desk.ask("POST", "/evaluate?wait=0", evaluation().dump()).body).at("job_id");
  ScriptedEngine engine;
  tools::Jobs other(desk.journal, desk.artifacts, engine, [](const std::string&) {});
  for (const mcp::Tool& tool : tools::all(other, nullptr)) {
    if (tool.name != "cancel_job") continue;
    const auto result = call(tool, {{"job_id", job_id}});
    CHECK(result.is_error);
    CHECK_FALSE(result.structured.contains("verdict"));
    CHECK(result.structured.at("status") == "client_error");
    CHECK(result.text.find("another server") != std::string::npos);
  }
  CHECK(desk.get("/job/" + job_id).at("result").at("verdict").is_null());
  desk.engine.hangs = false;
}

TEST_CASE("a job of no such id") {
  Desk desk;
  const auto result = call(listed(desk, "get_job"), {{"job_id", "0-0"}});
  CHECK(result.is_error);
  CHECK(result.structured.at("state") == "not_found");
  const auto answer = desk.ask("GET", "/job/0-0");
  CHECK(answer.status == 404);
  CHECK(json::parse(answer.body) ==
        json({{"error", "Job 0-0 not found"}, {"missing", "job"}, {"status", "error"}}));
}

TEST_CASE("the report of one job is the same for MCP and REST") {
  Desk desk;
  desk.engine.conclusion.body = {{"summary", "Passed."}, {"trust", "verified"}};
  json by_rest = json::parse(desk.ask("POST", "/evaluate", evaluation().dump()).body);
  const auto job =
      call(listed(desk, "get_job"), {{"job_id", by_rest.at("job_id")}, {"detail", "full"}});
  for (const char* added : {"pod_name", "pod_ip"}) CHECK(by_rest.erase(added) == 1);
  json told = json(job.structured);
  CHECK(told.at("created_at").get<std::string>().size() == 20);
  told.erase("created_at");  // over REST it stands beside the report
  CHECK(by_rest == told);
  CHECK(desk.get("/job/" + by_rest.at("job_id").get<std::string>()).at("result") == by_rest);
}
